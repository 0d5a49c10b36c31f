//! Flags of `plimsoll fill`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use model::units::parse_count;

/// `plimsoll fill`.
#[derive(Debug, Args)]
#[command(after_help = "\
Sizes: --rows names tables and how many rows they shall have in all. Tables that refer to them grow by the same factor, \
where they have rows today; --only leaves them as they are. With --dau-now and --dau-target the table of the users grows \
by target / now, and so does what refers to it. A row that needs a parent gets one.
Values follow the rows that are there: common values and histograms of each column, children of each parent. Without \
rows they follow the column's name and type.
Pools: with --for, each value of a pool that is a table's key becomes a row, and the heaviest ones get the most \
children. A pool's column is the key K of table T if the pool is called T (user and users are the same) and the column \
K, or if column or pool is called T_K (users_id, userId). T_uuid is the primary key of T if that holds UUIDs, and T has \
no column uuid. --pool says so for other names.
The database keeps what was done in the tables plimsoll_fill*, batch by batch: --resume continues after a kill, --clean \
removes the rows that were added, sets counters back and drops these tables. A row under a key of the fill is left and \
named if less than half of the values that tell the fill's rows apart are as it wrote them: somebody else put it there, or \
changed most of it. --replaced says what becomes of such rows.
A database is refused, unless --yes-to gives its name, if a word in its name or host begins or ends with one of \
--production-marks, numbers aside (prod and production count within words too; products and the like do not); if \
replicas are attached; if others that are still connected wrote to it in the last 5 minutes; and if rows of it are \
changed while fill looks, 2 seconds at least. What was written before over connections that are closed is not seen.
Passwords: from the URL, PGPASSWORD or MYSQL_PWD, ~/.pgpass or ~/.my.cnf; they are not printed.
TLS: sslmode=require, verify-ca or verify-full and sslrootcert=FILE in the URL of PostgreSQL (or PGSSLMODE, \
PGSSLROOTCERT), ssl-mode=REQUIRED or VERIFY_IDENTITY and ssl-ca=FILE in that of MySQL (or ~/.my.cnf).
Exit codes: 0 done; 1 the database refused or was refused; 2 usage; 130 interrupted.")]
pub struct FillArgs {
    /// postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE or sqlite:FILE
    #[arg(value_name = "DATABASE_URL")]
    pub url: String,
    /// How many rows a table shall have in all; may be repeated
    #[arg(long, value_name = "TABLE=N", value_parser = parse_rows)]
    pub rows: Vec<(String, u64)>,
    /// Do not fill tables that only refer to those of --rows
    #[arg(long)]
    pub only: bool,
    /// Workload file whose requests need rows: add those with the ids of its pools
    #[arg(long = "for", value_name = "FILE")]
    pub workload: Option<PathBuf>,
    /// Daily users that today's rows belong to
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true, requires = "dau_target")]
    pub dau_now: Option<u64>,
    /// Daily users that there shall be rows for
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true, requires = "dau_now")]
    pub dau_target: Option<u64>,
    /// The table of the users [default: the first there is of users, user, accounts, account, customers, customer,
    /// members, member]
    #[arg(long, value_name = "TABLE", requires = "dau_now")]
    pub users: Option<String>,
    /// The column of the database that a pool's column has the ids of; may be repeated
    #[arg(long, value_name = "POOL.COLUMN=TABLE.COLUMN", value_parser = parse_pool, requires = "workload")]
    pub pool: Vec<(String, String)>,
    /// Fill nothing, and write the values of this key to a file for a pool, each with 1 + the number of rows that refer to it
    /// as its weight, so that those without any are asked for too. May be repeated
    #[arg(long, value_name = "TABLE.COLUMN", conflicts_with_all = ["rows", "workload", "clean", "resume", "dry_run"])]
    pub pools: Vec<String>,
    /// Folder for the files of --pools
    #[arg(long, value_name = "DIR", default_value = "pools", requires = "pools")]
    pub out: PathBuf,
    /// Language of texts: en, zh_CN, zh_TW, ja_JP, de_DE, fr_FR, it_IT, pt_BR, ar_SA
    #[arg(long, value_name = "LOCALE", default_value = "en")]
    pub locale: String,
    /// Seed: the same seed, --until and database make the same rows
    #[arg(long, value_name = "N", default_value = "1", value_parser = super::load::parse_seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// The day before which made-up times lie, unless a column has later ones already [default: today]
    #[arg(long, value_name = "DATE")]
    pub until: Option<String>,
    /// Rows in a transaction at most; fewer where they would take longer than about a second
    #[arg(long, value_name = "N", default_value = "50k", value_parser = parse_count, allow_hyphen_values = true)]
    pub batch: u64,
    /// Print the plan and ten rows of each table; write nothing
    #[arg(long, conflicts_with_all = ["clean", "resume"])]
    pub dry_run: bool,
    /// Continue the fill that was interrupted
    #[arg(long, conflicts_with_all = ["rows", "workload", "clean"])]
    pub resume: bool,
    /// Remove all rows that fills added
    #[arg(long, conflicts_with_all = ["rows", "workload"])]
    pub clean: bool,
    /// What becomes of rows under keys of a fill that hold other values than it wrote [default: they are left and named,
    /// and the fill is not forgotten]
    #[arg(long, value_name = "WHAT", requires = "clean")]
    pub replaced: Option<ReplacedArg>,
    /// Write to the database of this name though it looks like production
    #[arg(long, value_name = "NAME")]
    pub yes_to: Option<String>,
    /// Words in the name of a database or host that mark production
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = fill::MARKS)]
    pub production_marks: Vec<String>,
    /// Print nothing while working
    #[arg(short, long)]
    pub quiet: bool,
}

/// What becomes of rows that others have put under keys of a fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReplacedArg {
    /// They are left, and the fill is forgotten
    Keep,
    /// They are removed too
    Remove,
}

fn parse_rows(text: &str) -> Result<(String, u64), String> {
    let (table, rows) = text.rsplit_once('=').ok_or("write it as TABLE=N")?;
    Ok((table.to_owned(), parse_count(rows).map_err(|error| error.to_string())?))
}

fn parse_pool(text: &str) -> Result<(String, String), String> {
    let both = text.split_once('=').filter(|(pool, key)| pool.contains('.') && key.contains('.'));
    let (pool, key) = both.ok_or("write it as POOL.COLUMN=TABLE.COLUMN")?;
    Ok((pool.to_owned(), key.to_owned()))
}
