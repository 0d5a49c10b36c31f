//! `plimsoll fill`: fills a database with realistic rows.
//!
//! Owns the order of the steps and their messages: the plan, progress, the result. The crate `fill` makes rows, talks to
//! databases, and records fills.

mod pools;
mod progress;
mod shown;

use fill::{
    Address, Database, Environment, Error, Fill, Look, Replaced, Request, Rows, Schema, Wish,
};
use model::quote::counted;

use crate::args::{FillArgs, ReplacedArg};
use crate::failure::{Failure, cannot_run, usage};
use crate::results::output;
use crate::terminal::signals;
use crate::user_folder;

use progress::Meter;

/// The table of the users, if none is named.
const USERS: [&str; 8] =
    ["users", "user", "accounts", "account", "customers", "customer", "members", "member"];

/// What is left where Ctrl-C ended a fill after its last row.
const ALL_WRITTEN: &str =
    "all rows are written, the planner's statistics are not all renewed (ANALYZE); --clean undoes";

/// Why no fill begins while another one is not done.
const UNFINISHED: &str =
    "an earlier fill was interrupted: --resume continues it, --clean undoes it";

/// Why no fill begins behind one of which rows of others are left.
const LEFT_BY_CLEAN: &str = "--clean of an earlier fill left rows of others under its keys: --clean --replaced keep forgets \
                             the fill and leaves them, --clean --replaced remove removes them too";

/// Runs the command; the exit code.
///
/// # Errors
/// When the database refuses or is refused, and when what is asked cannot be done.
pub fn fill(args: &FillArgs) -> Result<u8, Failure> {
    match carry_out(args) {
        Ok(printed) => Ok(u8::from(!printed)),
        Err(Error::Usage(why)) => usage(why),
        Err(Error::Unreadable(why)) => cannot_run(why),
        Err(error @ Error::Interrupted(_)) => {
            eprintln!("plimsoll: {error}");
            Ok(verdict::exit::INTERRUPTED)
        }
        Err(error) => cannot_run(format!("{}: {error}", fill::masked(&args.url))),
    }
}

/// Does what is asked for; whether what was to be printed could be.
fn carry_out(args: &FillArgs) -> fill::Result<bool> {
    if args.batch == 0 {
        return Err(Error::Usage("--batch must be above 0".to_owned()));
    }
    let home = user_folder::under_home("");
    let environment =
        Environment { variable: &|name| std::env::var(name).ok(), home: home.as_deref() };
    let address = Address::parse(&args.url, environment)?;
    if let Some(line) = address.passed_over(environment) {
        say(args, &format!("plimsoll: {line}"));
    }
    let mut database = fill::connect(&address)?;
    let database = &mut *database;
    let schema = database.schema()?;
    if !args.pools.is_empty() {
        return pools::write(args, database, &schema).map(|()| true);
    }
    if !args.dry_run {
        fill::alone(database)?;
    }
    let mut fills = fill::ledger::load(database)?;
    let unfinished = fills.iter().position(|fill| !fill.is_complete());
    let look = match args.dry_run {
        true => None,
        false => {
            let (marks, named) = (&args.production_marks, args.yes_to.as_deref());
            Some(fill::guard(database, &address, marks, named)?)
        }
    };
    if args.clean {
        return clean(args, database, &schema, fills).map(|()| true);
    }
    match (unfinished, args.resume) {
        (Some(at), true) => go_on(args, database, &schema, &mut fills[at], look).map(|()| true),
        (None, true) => {
            Err(Error::Usage("no fill was interrupted: there is nothing to resume".to_owned()))
        }
        (Some(at), false) if !args.dry_run => {
            let why = if fills[at].has_rows_of_others() { LEFT_BY_CLEAN } else { UNFINISHED };
            Err(Error::Usage(why.to_owned()))
        }
        _ => begin(args, database, &schema, look),
    }
}

fn begin(
    args: &FillArgs,
    database: &mut dyn Database,
    schema: &Schema,
    look: Option<Look>,
) -> fill::Result<bool> {
    let request = Request {
        wish: wish(args, schema)?,
        seed: args.seed,
        locale: locale(&args.locale)?,
        until: until(args)?,
        batch: args.batch,
        pools: pools::read(args, schema)?,
    };
    if request.wish == Wish::default() && request.pools.is_empty() {
        return Err(Error::Usage(
            "say how many: --rows TABLE=N, or --for workload.yaml with --dau-now N --dau-target N"
                .to_owned(),
        ));
    }
    say(args, "looking at what is there ...");
    let survey = fill::survey(database, schema, &request)?;
    let rows = Rows::compile(schema, &survey.facts)?;
    let added: Vec<u64> = survey.sizes.iter().map(|size| size.add).collect();
    let slow = fill::slow_removals(database, schema, &survey.facts, &added)?;
    let slow = shown::slow(schema, &survey.facts, &added, &slow);
    let plan = shown::plan(schema, &survey, &rows) + &slow;
    if args.dry_run {
        return Ok(output::print(&(plan + &shown::rows(schema, &survey.facts, &rows)?)));
    }
    say_all(args, &plan);
    if survey.facts.order.is_empty() {
        say(args, "plimsoll: there are as many rows already; nothing was written");
        return Ok(true);
    }
    look.map_or(Ok(()), |look| look.end(database))?;
    fill::try_out(database, schema, &survey.facts, &rows)?;
    let mut begun = fill::ledger::begin(database, &survey.facts)?;
    run(args, database, schema, &mut begun).map(|()| true)
}

fn go_on(
    args: &FillArgs,
    database: &mut dyn Database,
    schema: &Schema,
    fill: &mut Fill,
    look: Option<Look>,
) -> fill::Result<()> {
    let schema = &fill.numbered(schema)?;
    look.map_or(Ok(()), |look| look.end(database))?;
    say(args, "continuing where the earlier fill ended");
    run(args, database, schema, fill)
}

fn run(
    args: &FillArgs,
    database: &mut dyn Database,
    schema: &Schema,
    fill: &mut Fill,
) -> fill::Result<()> {
    let mut meter = watch(args, database)?;
    let outcome = fill::fill(database, schema, fill, &mut |progress| meter.show(progress));
    meter.end();
    let left = if fill.is_complete() { ALL_WRITTEN } else { fill::INTERRUPTED };
    outcome.map_err(|error| match error {
        Error::Database(_) if meter.stopped() => Error::Interrupted(left),
        Error::Database(why) => Error::Database(format!(
            "{why}\nplimsoll: what was done before stays: --resume continues, --clean undoes it"
        )),
        // The same rows would come again.
        Error::Rule(why) => Error::Rule(format!(
            "{why}\nplimsoll: what was done before stays: --clean undoes it. --resume would write the same rows: it \
             helps only where a row of somebody else is in their way, and removed first"
        )),
        other => other,
    })?;
    let rows = fill.facts.rows_added();
    say(
        args,
        &format!(
            "plimsoll: {} written in {}; --clean removes them",
            counted(rows, "row"),
            meter.time()
        ),
    );
    Ok(())
}

fn clean(
    args: &FillArgs,
    database: &mut dyn Database,
    schema: &Schema,
    fills: Vec<Fill>,
) -> fill::Result<()> {
    if fills.is_empty() {
        if fill::ledger::drop_empty(database)? {
            say(
                args,
                "plimsoll: no rows are left of a fill; its tables plimsoll_fill* are dropped",
            );
            return Ok(());
        }
        say(args, "plimsoll: no fill has added rows: there is nothing to remove");
        return Ok(());
    }
    let replaced = match args.replaced {
        None => Replaced::Tell,
        Some(ReplacedArg::Keep) => Replaced::Keep,
        Some(ReplacedArg::Remove) => Replaced::Remove,
    };
    let (mut removed, mut left, mut gone) = (0, 0, Vec::new());
    for mut fill in fills.into_iter().rev() {
        let schema = &fill.numbered(schema)?;
        let rows = fill.rows_of_tables();
        let slow = fill::slow_removals(database, schema, &fill.facts, &rows)?;
        say_all(args, &shown::slow(schema, &fill.facts, &rows, &slow));
        let mut meter = watch(args, database)?;
        let outcome = fill::clean(database, schema, &mut fill, replaced, &mut |progress| {
            meter.show(progress)
        });
        meter.end();
        let cleaned = outcome.map_err(|error| match error {
            Error::Database(_) if meter.stopped() => Error::Interrupted(fill::CLEAN_INTERRUPTED),
            other => other,
        })?;
        removed += cleaned.removed;
        left += cleaned.left;
        gone.extend(cleaned.gone);
    }
    say(args, &format!("plimsoll: {} removed", counted(removed, "row")));
    for (table, rows) in gone {
        say(args, &format!("plimsoll: {table}: {} gone already", counted(rows, "more row")));
    }
    if left > 0 {
        let rows = counted(left, "row");
        say(args, &format!("plimsoll: {rows} of others under keys of the fill left"));
    }
    Ok(())
}

fn watch(args: &FillArgs, database: &dyn Database) -> fill::Result<Meter> {
    let stop = signals::stop_on_signal().map_err(|failure| Error::Database(failure.to_string()))?;
    Ok(Meter::new(args.quiet, stop, database.canceller()))
}

fn say(args: &FillArgs, text: &str) {
    say_all(args, &format!("{text}\n"));
}

/// Says lines that have their ends.
fn say_all(args: &FillArgs, lines: &str) {
    if !args.quiet {
        eprint!("{lines}");
    }
}

fn wish(args: &FillArgs, schema: &Schema) -> fill::Result<Wish> {
    let growth = match (args.dau_now, args.dau_target) {
        (Some(0), _) => return Err(Error::Usage("--dau-now must be above 0".to_owned())),
        (Some(now), Some(target)) => {
            let first = || USERS.into_iter().find(|name| schema.find(name).is_some());
            let table = args.users.clone().or_else(|| first().map(str::to_owned));
            let Some(table) = table else {
                return Err(Error::Usage(
                    "no table looks like that of the users: --users TABLE".to_owned(),
                ));
            };
            Some((table, target as f64 / now as f64))
        }
        _ => None,
    };
    Ok(Wish { rows: args.rows.clone(), growth, only: args.only })
}

fn locale(name: &str) -> fill::Result<String> {
    let same = |known: &&&str| known.eq_ignore_ascii_case(&name.replace('-', "_"));
    match fill::LOCALES.iter().find(same) {
        Some(known) => Ok((*known).to_owned()),
        None => {
            let all = fill::LOCALES.join(", ");
            Err(Error::Usage(format!("--locale {name}: known are {all}")))
        }
    }
}

/// Midnight before this day, in microseconds since 1970.
fn until(args: &FillArgs) -> fill::Result<i64> {
    const DAY: i64 = 86_400_000_000;
    let days = match &args.until {
        Some(text) => fill::parse_date(text).filter(|_| text.len() == 10),
        None => Some(jiff::Timestamp::now().as_second() / 86_400),
    };
    match days {
        Some(days) => Ok(days * DAY),
        None => Err(Error::Usage("--until takes a day such as 2026-11-23".to_owned())),
    }
}
