//! Processes of this machine, this one among them.

use testkit::process::Program;

use super::*;

#[test]
fn this_process_is_read() {
    let mut processes = Processes::new(Which::Pids(vec![std::process::id()]));
    let mut first = Sample::new(0);
    processes.read(clock::now(), &mut first).expect("it runs");
    assert_eq!(first.counters["process.cpu_ns"], 0, "counted from the first look on");
    let until = clock::thread_cpu() + 30_000_000;
    while clock::thread_cpu() < until {}
    let mut second = Sample::new(0);
    processes.read(clock::now(), &mut second).expect("it runs");
    assert!(second.counters["process.cpu_ns"] >= 20_000_000, "{second:?}");
    assert!(second.gauges["process.files"] >= 3.0 && second.gauges["process.threads"] >= 1.0);
    if !second.missing.contains_key("process.thread_share") {
        assert!(second.gauges["process.thread_share"] > 0.0, "{second:?}");
    }
}

#[test]
fn what_a_new_process_used_before_it_was_seen_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = format!("new{}", std::process::id());
    // A file that is written here cannot be run for as long as a process that another test begins holds it open.
    let shell = folder.path().join(&name);
    std::os::unix::fs::symlink("/bin/sh", &shell).expect("a link");
    let burns = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo; exec 1>&-; read -r line";
    let mut processes = Processes::new(Which::Name(name));
    assert!(processes.read(clock::now(), &mut Sample::new(0)).is_err());
    // Ticks are of 10 ms.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let mut program = Program::start(std::process::Command::new(&shell).args(["-c", burns]));
    program.read_line();
    let spent = processes::stat(&read_or_empty(format!("/proc/{}/stat", program.pid())));
    let spent = spent.expect("it runs");
    let mut sample = Sample::new(0);
    processes.read(clock::now(), &mut sample).expect("it runs");
    let spent_ns = spent.user_ns + spent.system_ns;
    assert!(spent_ns > 0 && sample.counters["process.cpu_ns"] >= spent_ns, "{spent:?} {sample:?}");
}

#[test]
fn a_program_that_was_built_anew_keeps_its_name() {
    for (path, wanted) in [
        ("/srv/a-service-of-ours", true),
        ("/srv/a-service-of-ours (deleted)", true),
        ("/srv/a-service-of-ours.old", false),
        ("/", false),
    ] {
        assert_eq!(is_program(Path::new(path), "a-service-of-ours"), wanted, "{path}");
    }
}

#[test]
fn what_was_written_is_not_reported_where_it_may_not_be_looked_at() {
    let mut processes = Processes::new(Which::Pids(vec![std::process::id()]));
    processes.read(clock::now(), &mut Sample::new(0)).expect("it runs");
    let told = |processes: &mut Processes| {
        let mut sample = Sample::new(0);
        processes.tell(&mut sample);
        sample.counters.contains_key("process.written_bytes")
    };
    assert!(told(&mut processes));
    // Another user's, among the others.
    processes.known.insert(1, Known::default());
    assert!(!told(&mut processes));
}

#[test]
fn threads_that_come_and_go_are_no_kernel_without_figures() {
    let script = "import threading\n\
                  while True:\n  some = [threading.Thread(target=int) for _ in range(8)]\n\
                  \x20 [one.start() for one in some]\n  [one.join() for one in some]";
    let program = Program::python(script);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let mut processes = Processes::new(Which::Pids(vec![program.pid()]));
    let samples: Vec<Sample> = (0..400)
        .map(|_| {
            let mut sample = Sample::new(0);
            processes.read(clock::now(), &mut sample).expect("it runs");
            sample
        })
        .collect();
    let missing = |sample: &&Sample| sample.missing.contains_key("process.thread_share");
    let missing = samples.iter().filter(missing).count();
    assert!(missing == 0 || missing == samples.len(), "{missing} of {}", samples.len());
}

#[test]
fn a_share_of_a_core_is_of_one_interval() {
    // Of a process of its own: other tests look at the threads of this one.
    let script = "import sys, threading\n\
                  hold = threading.Event()\n\
                  sys.stdin.readline()\n\
                  many = [threading.Thread(target=hold.wait) for _ in range(512)]\n\
                  [thread.start() for thread in many]\n\
                  print(flush=True)\n\
                  sys.stdin.readline()\n\
                  hold.set()\n\
                  [thread.join() for thread in many]\n\
                  print(flush=True)\n\
                  sys.stdin.readline()";
    let mut program = Program::python(script);
    let mut processes = Processes::new(Which::Pids(vec![program.pid()]));
    let mut next_step = || {
        program.write_line();
        program.read_line();
    };
    let [mut first, mut many, mut after, mut last] = [0; 4].map(Sample::new);
    processes.read(1_000_000_000, &mut first).expect("it runs");
    if !first.missing.contains_key("process.thread_share") {
        next_step();
        processes.read(2_000_000_000, &mut many).expect("it runs");
        assert_eq!(many.missing["process.thread_share"], "more than 512 threads");
        next_step();
        // 10 ms later; what was seen before belongs to more than that, and nothing is no share of 0.
        processes.read(2_010_000_000, &mut after).expect("it runs");
        assert!(!after.gauges.contains_key("process.thread_share"), "{after:?}");
        processes.read(3_010_000_000, &mut last).expect("it runs");
        assert!(last.gauges.contains_key("process.thread_share"), "{last:?}");
    }
}

#[test]
fn switches_of_all_threads_count() {
    let script = "import threading, time\n\
                  def nap():\n  while True: time.sleep(0.001)\n\
                  threading.Thread(target=nap, daemon=True).start()\n\
                  time.sleep(600)";
    let program = Program::python(script);
    let mut processes = Processes::new(Which::Pids(vec![program.pid()]));
    // Its main thread gives up its core once, when it begins to sleep.
    let many = (0..1_200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let mut sample = Sample::new(0);
        processes.read(clock::now(), &mut sample).is_ok()
            && (sample.missing.contains_key("process.thread_share")
                || sample.counters["process.voluntary_switches"] > 300)
    });
    assert!(many);
}

#[test]
fn processes_that_known_ones_begin_are_found_at_once() {
    let script = "sleep 0.3; sleep 100; :";
    let program = Program::start(std::process::Command::new("sh").args(["-c", script]));
    let begun = || children(program.pid());
    let found = (0..1_200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        begun().iter().any(|&pid| is_named(pid, "sleep"))
    });
    for pid in begun() {
        let _ = std::process::Command::new("kill").arg(pid.to_string()).status();
    }
    assert!(found || !Path::new("/proc/1/task/1/children").exists());
}

#[test]
fn a_process_that_is_not_there_is_an_error() {
    let mut processes = Processes::new(Which::Name("no-such-program".into()));
    let error = processes.read(1, &mut Sample::new(0)).expect_err("none");
    assert_eq!(error, "no process named no-such-program is running");
}

#[test]
fn a_thread_that_looks_for_work_again_and_again_wakes() {
    // In a process of its own: threads of other tests wake too.
    let script = "import time\nwhile True: time.sleep(0.001)";
    let program = Program::python(script);
    let mut processes = Processes::new(Which::Pids(vec![program.pid()]));
    let mut look = || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        let mut sample = Sample::new(0);
        processes.read(clock::now(), &mut sample).map(|()| sample)
    };
    let first = look();
    // On a busy machine it wakes less often than it means to.
    let wakes = (0..200).any(|_| {
        look().is_ok_and(|sample| {
            sample.missing.contains_key("process.waking_threads")
                || sample.gauges.get("process.waking_threads").is_some_and(|&n| n >= 1.0)
        })
    });
    let first = first.expect("it runs");
    assert!(!first.gauges.contains_key("process.waking_threads"), "of no time");
    assert!(wakes);
}
