//! Triggers of tables. What they write to other tables belongs to them: taking a fill back does not remove it.

use crate::database::{Database, all};
use crate::error::Result;
use crate::schema::{Dialect, Schema};

/// Enabled triggers of tables and of their partitions that fire for rows; none of those that keep foreign keys.
const POSTGRES: &str = "
SELECT DISTINCT CASE WHEN n.nspname = current_schema() THEN NULL ELSE n.nspname END, c.relname, t.tgname
FROM pg_trigger t JOIN pg_class c ON c.oid = coalesce(pg_partition_root(t.tgrelid)::oid, t.tgrelid)
  JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A') AND t.tgtype & 28 <> 0 ORDER BY 1, 2, 3";

const MYSQL: &str = "
SELECT NULL, EVENT_OBJECT_TABLE, TRIGGER_NAME FROM information_schema.TRIGGERS
WHERE EVENT_OBJECT_SCHEMA = DATABASE() ORDER BY 2, 3";

const SQLITE: &str =
    "SELECT NULL, tbl_name, name FROM sqlite_master WHERE type = 'trigger' ORDER BY 2, 3";

/// The names of each table's triggers.
pub fn find(database: &mut dyn Database, schema: &Schema) -> Result<Vec<Vec<String>>> {
    let sql = match schema.dialect {
        Dialect::Postgres => POSTGRES,
        Dialect::Mysql => MYSQL,
        Dialect::Sqlite => SQLITE,
    };
    let mut found = vec![Vec::new(); schema.tables.len()];
    for row in all(database, sql)? {
        let [of, Some(table), Some(trigger)] = &row[..] else { continue };
        let same = |name: &String| match schema.dialect {
            Dialect::Sqlite => name.eq_ignore_ascii_case(table),
            _ => name == table,
        };
        let mut tables = schema.tables.iter();
        let at = tables.position(|other| other.name.schema == *of && same(&other.name.table));
        if let Some(at) = at {
            found[at].push(trigger.clone());
        }
    }
    Ok(found)
}
