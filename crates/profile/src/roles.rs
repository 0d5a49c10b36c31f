//! What functions do, by their names: collect garbage, allocate, call handlers, respond, set and write headers.

use model::profiled::Owner;

/// Whether samples in it are garbage collection in the background.
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

/// Whether its name makes it a handler, independent of its caller: Go's interface `http.Handler`.
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
