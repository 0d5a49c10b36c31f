//! Whose code a function is, by its name and its source file.
//!
//! Go's files tell most: a dependency's lie in the module cache or a vendor folder, the standard library's in GOROOT or,
//! with `-trimpath`, under their import path. What remains is the service's own, whatever its module is called.

use model::profiled::Owner;

/// The standard library's first path elements.
const GO_STANDARD: &[&str] = &[
    "archive",
    "bufio",
    "bytes",
    "cmp",
    "compress",
    "container",
    "context",
    "crypto",
    "database",
    "debug",
    "embed",
    "encoding",
    "errors",
    "expvar",
    "flag",
    "fmt",
    "go",
    "hash",
    "html",
    "image",
    "index",
    "internal",
    "io",
    "iter",
    "log",
    "maps",
    "math",
    "mime",
    "net",
    "os",
    "path",
    "plugin",
    "reflect",
    "regexp",
    "slices",
    "sort",
    "strconv",
    "strings",
    "structs",
    "sync",
    "testing",
    "text",
    "time",
    "unicode",
    "unique",
    "vendor",
    "weak",
];

/// Packages of Go's runtime, subpackages included.
const GO_RUNTIME: &[&str] =
    &["runtime", "internal/runtime", "syscall", "internal/runtime/syscall", "type:", "go:"];

/// Import paths and crates of web frameworks and routers.
const FRAMEWORKS: &[&str] = &[
    "github.com/gin-gonic/",
    "github.com/gin-contrib/",
    "github.com/labstack/echo",
    "github.com/gofiber/",
    "github.com/valyala/fasthttp",
    "github.com/go-chi/",
    "github.com/gorilla/mux",
    "github.com/julienschmidt/httprouter",
    "github.com/kataras/iris",
    "github.com/beego/",
    "github.com/astaxie/beego",
    "github.com/urfave/negroni",
    "github.com/go-kratos/",
    "github.com/zeromicro/go-zero",
    "github.com/cloudwego/hertz",
    "github.com/gogf/gf",
    "github.com/revel/",
    "github.com/justinas/alice",
    "github.com/gobuffalo/buffalo",
];

/// Crates of web frameworks.
const FRAMEWORK_CRATES: &[&str] = &[
    "axum",
    "actix_web",
    "actix_http",
    "actix_server",
    "rocket",
    "warp",
    "tower",
    "tower_http",
    "hyper",
    "hyper_util",
    "poem",
    "salvo",
];

/// Of other languages' files, what tells whose they are.
const FRAMEWORK_FILES: &[&str] = &[
    "/flask/",
    "/django/",
    "/fastapi/",
    "/starlette/",
    "/uvicorn/",
    "/werkzeug/",
    "/gunicorn/",
    "/aiohttp/",
    "/tornado/",
    "/node_modules/express/",
    "/node_modules/fastify/",
    "/node_modules/koa/",
    "/node_modules/@nestjs/",
];
const DEPENDENCY_FILES: &[&str] =
    &["/site-packages/", "/dist-packages/", "/node_modules/", "/.cargo/registry/", "/.cargo/git/"];
const STANDARD_FILES: &[&str] = &[
    "/lib/python3",
    "node:",
    "/rustc/",
    "/library/std/",
    "/library/core/",
    "/library/alloc/",
    "<frozen ",
];

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
    if let Some(owner) = by_file(name, file) {
        return owner;
    }
    if name.contains("::") || name.starts_with('<') {
        return rust(name);
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
    let has = |marks: &[&str]| marks.iter().any(|mark| file.contains(mark));
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
    None
}

fn rust(name: &str) -> Owner {
    let path = name.trim_start_matches(['<', '&']);
    let first = path.split("::").next().unwrap_or_default();
    match first {
        "core" | "std" | "alloc" | "hashbrown" => Owner::StandardLibrary,
        "tokio" | "mio" => Owner::Runtime,
        _ if FRAMEWORK_CRATES.contains(&first) => Owner::Framework,
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

/// Whether samples in it are the collection of garbage that nobody waits for.
pub fn collects(name: &str) -> bool {
    matches!(
        name,
        "runtime.gcBgMarkWorker"
            | "runtime.bgsweep"
            | "runtime.bgscavenge"
            | "(garbage collector)"
            | "GC"
    )
}

/// Whether samples in it allocate memory.
pub fn allocates(name: &str) -> bool {
    matches!(
        name,
        "runtime.mallocgc"
            | "runtime.newobject"
            | "runtime.makeslice"
            | "runtime.growslice"
            | "malloc"
            | "calloc"
            | "realloc"
            | "__libc_malloc"
            | "__rust_alloc"
            | "operator new"
    )
}

/// Whether it calls handlers: what it calls is a layer of its own.
pub fn dispatches(name: &str) -> bool {
    name.ends_with(".HandlerFunc.ServeHTTP")
        || name.ends_with(".(*Context).Next")
        || name.ends_with(".(*Ctx).Next")
        || name.ends_with(".(*DefaultCtx).Next")
        || chains(name)
}

/// Whether it calls a chain of handlers that call each other without it: middlewares that are closures around the next.
pub fn chains(name: &str) -> bool {
    name.starts_with("github.com/labstack/echo")
        && [".(*Echo).ServeHTTP", ".(*Echo).serveHTTP", ".(*Echo).add.func1"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// Whether it calls handlers of `net/http` that are functions: a middleware may be a closure that calls the next by itself.
pub fn calls_functions(name: &str) -> bool {
    name == "net/http.HandlerFunc.ServeHTTP"
}

/// Whether it is the response's own code, which what makes a response calls. Reading its headers makes none.
pub fn responds(name: &str) -> bool {
    name.strip_prefix("net/http.(*response).")
        .or_else(|| name.strip_prefix("net/http.(*http2responseWriter)."))
        .is_some_and(|method| method != "Header")
}

/// Whether it is a handler by its name, whoever calls it: Go's interface `http.Handler`.
pub fn serves(name: &str, owner: Owner) -> bool {
    matches!(owner, Owner::Own | Owner::Dependency)
        && name.ends_with(".ServeHTTP")
        && !dispatches(name)
}

/// The function that a Go closure was written in; nothing where it is no closure. Closures of closures are in the same.
pub fn enclosing(name: &str) -> Option<&str> {
    name.find(".func").map(|at| &name[..at])
}

/// Whether it sets a header of the response, which the server writes when the handlers are done.
pub fn sets_header(name: &str) -> bool {
    matches!(
        name,
        "net/textproto.MIMEHeader.Set"
            | "net/textproto.MIMEHeader.Add"
            | "net/http.Header.Set"
            | "net/http.Header.Add"
    )
}

/// Whether it does the server's work for headers that handlers set: copies them and writes them.
pub fn writes_headers(name: &str) -> bool {
    matches!(name, "net/http.Header.Clone" | "net/http.Header.writeSubset")
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
}
