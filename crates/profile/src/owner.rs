//! Whose code a function is, by its name and its source file.
//!
//! Go's files tell most: a dependency's lie in the module cache or a vendor folder, the standard library's in GOROOT or,
//! with `-trimpath`, under their import path. What remains is the service's own, whatever its module is called. Where a
//! profile has no files, as those of perf and of the JVM, known packages and crates are told apart by name alone.

mod known;

use model::profiled::Owner;

use self::known::{
    COMPILERS_PARTS, DEPENDENCY_CRATES, DEPENDENCY_FILES, FRAMEWORK_CRATES, FRAMEWORK_FILES,
    FRAMEWORKS, GO_RUNTIME, GO_STANDARD, JVM_DEPENDENCIES, JVM_FRAMEWORKS, JVM_STANDARD,
    PYTHON_STANDARD, STANDARD_FILES,
};

/// The package of a Go function: everything before the first dot after the last slash.
pub fn go_package(name: &str) -> Option<&str> {
    // Type arguments hold paths of their own.
    let plain = name.split('[').next().unwrap_or(name);
    let from = plain.rfind('/').map_or(0, |at| at + 1);
    let end = from + plain[from..].find('.')?;
    (end > 0).then(|| &name[..end])
}

/// Whose a function is; what begins with one of `own` is the service's own.
pub fn owner(name: &str, file: &str, own: &[String]) -> Owner {
    if own
        .iter()
        .any(|prefix| name.starts_with(prefix.as_str()) || file.starts_with(prefix.as_str()))
    {
        return Owner::Own;
    }
    if FRAMEWORKS.iter().any(|prefix| name.starts_with(prefix)) {
        return Owner::Framework;
    }
    if let Some(owner) = by_file(name, file).or_else(|| jvm(name, file)) {
        return owner;
    }
    if name.contains("::") || name.starts_with('<') {
        return rust(name);
    }
    if file.is_empty() && is_part_of_c(name) {
        return Owner::Runtime;
    }
    match go_package(name) {
        Some(package) if is_go_runtime(package) => Owner::Runtime,
        Some(package) if is_go_standard(package) => Owner::StandardLibrary,
        Some("main") => Owner::Own,
        // A package with a domain whose file says nothing: most are dependencies.
        Some(package) if package.split('/').next().is_some_and(|first| first.contains('.')) => {
            if file.is_empty() {
                Owner::Dependency
            } else {
                Owner::Own
            }
        }
        Some(_) => Owner::Own,
        // Assembly, C, the kernel, and frames of scripts whose file did not tell.
        None if file.ends_with(".py")
            || file.ends_with(".js")
            || file.ends_with(".ts")
            || file.ends_with(".rb") =>
        {
            Owner::Own
        }
        None => Owner::Runtime,
    }
}

fn by_file(name: &str, file: &str) -> Option<Owner> {
    // py-spy shortens paths to what follows the folder that a module was found in.
    let begins = |mark: &str| mark.strip_prefix('/').is_some_and(|mark| file.starts_with(mark));
    let has = |marks: &[&str]| marks.iter().any(|mark| file.contains(mark) || begins(mark));
    if file.ends_with(".go") || file.ends_with(".s") {
        // `/go/pkg/mod/github.com/x/y@v1.2.3/z.go`, or without what is before the module.
        if file.contains("@v") || file.contains("/vendor/") && !file.contains("/src/vendor/") {
            return Some(Owner::Dependency);
        }
        return None;
    }
    if has(FRAMEWORK_FILES) {
        return Some(Owner::Framework);
    }
    if has(STANDARD_FILES) && !has(DEPENDENCY_FILES) {
        return Some(Owner::StandardLibrary);
    }
    if has(DEPENDENCY_FILES) {
        let framework = FRAMEWORK_CRATES.iter().any(|name_of| in_crate(name, name_of));
        return Some(if framework { Owner::Framework } else { Owner::Dependency });
    }
    let module = file.split('/').next().unwrap_or_default();
    let module = module.strip_suffix(".py").unwrap_or(module);
    (file.ends_with(".py") && PYTHON_STANDARD.contains(&module)).then_some(Owner::StandardLibrary)
}

/// Whose a method of the JVM is: `java/lang/Thread.run`, or with dots.
fn jvm(name: &str, file: &str) -> Option<Owner> {
    if !file.is_empty() && ![".java", ".kt", ".scala"].iter().any(|end| file.ends_with(end)) {
        return None;
    }
    let same = |(a, b): (u8, u8)| a == b || a == b'.' && b == b'/';
    let begins =
        |package: &&str| name.len() > package.len() && name.bytes().zip(package.bytes()).all(same);
    [
        (JVM_STANDARD, Owner::StandardLibrary),
        (JVM_FRAMEWORKS, Owner::Framework),
        (JVM_DEPENDENCIES, Owner::Dependency),
    ]
    .into_iter()
    .find_map(|(packages, owner)| packages.iter().any(begins).then_some(owner))
}

/// Whether a compiler made it of a C function, the kernel's for one: `tcp_ack.isra.0`, `read.cold`.
fn is_part_of_c(name: &str) -> bool {
    let mut parts = name.split('.').skip(1);
    let (part, number) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let numbered = number.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    COMPILERS_PARTS.contains(&part) && (numbered || part == "cold")
}

/// Whose a function of Rust or C++ is. A method of a trait is where the trait is declared or where the type is: the type's,
/// unless that is of the standard library, or has no path.
fn rust(name: &str) -> Owner {
    let inner = name.strip_prefix('<').unwrap_or(name);
    match inner.split_once(" as ") {
        Some((of, of_trait)) if inner.len() < name.len() => {
            match of.contains("::").then(|| by_crate(of)) {
                None | Some(Owner::StandardLibrary) => by_crate(of_trait),
                Some(owner) => owner,
            }
        }
        _ => by_crate(inner),
    }
}

/// Whose a path is, by its crate.
fn by_crate(path: &str) -> Owner {
    let path = path.trim_start_matches(['<', '&', '[', '(', '*']);
    let path =
        ["mut ", "const ", "dyn "].iter().find_map(|word| path.strip_prefix(word)).unwrap_or(path);
    let first = path.split("::").next().unwrap_or_default();
    match first {
        "core" | "std" | "alloc" | "hashbrown" => Owner::StandardLibrary,
        "tokio" | "mio" => Owner::Runtime,
        _ if FRAMEWORK_CRATES.contains(&first) => Owner::Framework,
        _ if DEPENDENCY_CRATES.contains(&first) => Owner::Dependency,
        _ => Owner::Own,
    }
}

fn in_crate(name: &str, of: &str) -> bool {
    name.trim_start_matches(['<', '&']).strip_prefix(of).is_some_and(|rest| rest.starts_with("::"))
}

fn is_under(package: &str, of: &str) -> bool {
    package
        .strip_prefix(of)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || of.ends_with(':'))
}

fn is_go_runtime(package: &str) -> bool {
    // Profiles of processes are the standard library's, not the runtime's.
    let profiler = is_under(package, "runtime/pprof") || is_under(package, "runtime/trace");
    !profiler && GO_RUNTIME.iter().any(|of| is_under(package, of))
}

fn is_go_standard(package: &str) -> bool {
    let first = package.split('/').next().unwrap_or(package);
    first == "runtime" || GO_STANDARD.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_owners() {
        let module = "/go/pkg/mod/github.com";
        for (name, file, expected) in [
            ("main.main", "/src/main.go", Owner::Own),
            ("example.com/shop/api.(*Server).get", "/src/shop/api/get.go", Owner::Own),
            (
                "apiserver/internal/middleware.Logger.func1",
                "apiserver/internal/middleware/logger.go",
                Owner::Own,
            ),
            (
                "github.com/gin-gonic/gin.(*Context).Next",
                "github.com/gin-gonic/gin@v1.10.0/context.go",
                Owner::Framework,
            ),
            ("github.com/x/y.F", &format!("{module}/x/y@v1.0.0/f.go"), Owner::Dependency),
            ("github.com/x/y.F", "", Owner::Dependency),
            ("github.com/x/y.F", "/src/y/f.go", Owner::Own),
            ("gopkg.in/yaml%2ev3.Unmarshal", "/src/vendor/gopkg.in/yaml.v3/y.go", Owner::Own),
            (
                "net/http.(*conn).serve",
                "/usr/local/go/src/net/http/server.go",
                Owner::StandardLibrary,
            ),
            (
                "slices.SortFunc[go.shape.struct { github.com/x/y.Z }]",
                "slices/sort.go",
                Owner::StandardLibrary,
            ),
            ("runtime.mallocgc", "/usr/local/go/src/runtime/malloc.go", Owner::Runtime),
            (
                "runtime/pprof.profileWriter",
                "/usr/local/go/src/runtime/pprof/pprof.go",
                Owner::StandardLibrary,
            ),
            ("internal/runtime/syscall.Syscall6", "", Owner::Runtime),
            ("internal/poll.(*FD).Read", "", Owner::StandardLibrary),
            ("vendor/golang.org/x/net/idna.ToASCII", "", Owner::StandardLibrary),
            ("aeshashbody", "/usr/local/go/src/internal/runtime/maps/asm.s", Owner::Runtime),
            ("do_syscall_64", "", Owner::Runtime),
            ("type:.eq.main.key", "", Owner::Runtime),
            ("core::fmt::write", "/rustc/abc/library/core/src/fmt/mod.rs", Owner::StandardLibrary),
            (
                "axum::routing::f",
                "/cargo/.cargo/registry/src/axum-0.7/src/routing.rs",
                Owner::Framework,
            ),
            (
                "serde_json::de::f",
                "/cargo/.cargo/registry/src/serde_json-1/src/de.rs",
                Owner::Dependency,
            ),
            ("shop::get", "src/main.rs", Owner::Own),
            ("index", "/srv/app.py", Owner::Own),
            (
                "full_dispatch_request",
                "/usr/lib/python3.11/site-packages/flask/app.py",
                Owner::Framework,
            ),
            ("loads", "/usr/lib/python3.11/json/__init__.py", Owner::StandardLibrary),
        ] {
            assert_eq!(owner(name, file, &[]), expected, "{name} of {file}");
        }
        assert_eq!(owner("net/http.x", "", &["net/http".to_owned()]), Owner::Own);
    }

    #[test]
    fn functions_without_whole_paths_have_owners() {
        for (name, file, expected) in [
            ("loads", "json/__init__.py", Owner::StandardLibrary),
            ("run", "threading.py", Owner::StandardLibrary),
            ("wsgi_app", "flask/app.py", Owner::Framework),
            ("get", "shop/app.py", Owner::Own),
            ("tcp_ack.isra.0", "", Owner::Runtime),
            ("sock_read.constprop.0.isra.0", "", Owner::Runtime),
            ("vfs_read.cold", "", Owner::Runtime),
            ("shop::Cart::total.llvm.4711", "", Owner::Own),
            ("Shop::handle [clone .isra.0]", "", Owner::Own),
            ("main.part", "/src/main.go", Owner::Own),
            ("main.part.func1", "", Owner::Own),
            ("java/lang/Thread.run", "", Owner::StandardLibrary),
            ("java.lang.Thread.run", "Thread.java", Owner::StandardLibrary),
            ("org/springframework/web/servlet/DispatcherServlet.doGet", "", Owner::Framework),
            ("com/fasterxml/jackson/core/JsonParser.next", "", Owner::Dependency),
            ("com/example/shop/Api.get", "", Owner::Own),
            ("<F as core::future::future::Future>::poll", "", Owner::StandardLibrary),
            ("<alloc::vec::Vec<T> as shop::Priced>::price", "", Owner::Own),
            ("<alloc::vec::Vec<T> as serde::ser::Serialize>::serialize", "", Owner::Dependency),
            ("<core::pin::Pin<P> as core::future::Future>::poll", "", Owner::StandardLibrary),
            ("<&mut shop::Cart as core::fmt::Display>::fmt", "", Owner::Own),
            ("serde_json::de::from_str", "", Owner::Dependency),
        ] {
            assert_eq!(owner(name, file, &[]), expected, "{name} of {file}");
        }
    }
}
