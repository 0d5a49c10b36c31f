//! Layers of handlers, and whose the allocations are.

use super::*;

fn layers(text: &str) -> Vec<(String, i64, bool)> {
    let profile = crate::read(text.as_bytes()).unwrap();
    let taken = Taken {
        profile: &profile,
        kind: 0,
        allocations: None,
        requests: None,
        own: &[],
        source: "test",
    };
    let layers = costs(&taken).unwrap().layers.into_iter();
    layers.map(|layer| (layer.name, layer.added, layer.calls_next)).collect()
}

#[test]
fn handlers_with_a_method_of_their_own_are_layers() {
    let server = "net/http.(*conn).serve;net/http.serverHandler.ServeHTTP";
    let (logging, api) = ("main.(*logging).ServeHTTP", "main.(*api).ServeHTTP");
    let found = layers(&format!(
        "{server};{logging};log.Printf 30\n\
         {server};{logging};net/http.HandlerFunc.ServeHTTP;main.secure.func1 4\n\
         {server};{logging};net/http.HandlerFunc.ServeHTTP;main.secure.func1;net/http.(*ServeMux).ServeHTTP;{api};main.query 50\n\
         {server};net/http.readRequest 16\n"
    ));
    let expected = [(logging, 30, true), ("main.secure.func1", 4, true), (api, 50, false)];
    assert_eq!(found, expected.map(|(name, added, next)| (name.to_owned(), added, next)));
}

#[test]
fn functions_around_functions_are_layers() {
    let server = "net/http.serverHandler.ServeHTTP;net/http.HandlerFunc.ServeHTTP";
    let (logging, auth) = ("main.logging.func1", "main.auth.func1");
    let (ok, write) = ("main.hello", "net/http.(*response).Write");
    let found = layers(&format!(
        "{server};{logging};log.Printf 30\n\
         {server};{logging};main.line 5\n\
         {server};{logging};{auth};main.verify;crypto/hmac.New 10\n\
         {server};{logging};{auth};{ok};main.query 40\n\
         {server};{logging};{auth};{ok};{write} 7\n"
    ));
    // What a middleware calls for its own work makes no response.
    let expected = [(logging, 35, true), (auth, 10, true), (ok, 47, false)];
    assert_eq!(found, expected.map(|(name, added, next)| (name.to_owned(), added, next)));
    // Setting a header is no response either.
    let header = "main.secure;net/http.(*response).Header";
    let found =
        layers(&format!("{server};{logging};{header} 3\n{server};{logging};{auth};{write} 7\n"));
    let expected = [(logging, 3, true), (auth, 7, false)];
    assert_eq!(found, expected.map(|(name, added, next)| (name.to_owned(), added, next)));
}

#[test]
fn bytes_are_charged_to_the_layers_of_the_processors_profile() {
    let server = "net/http.serverHandler.ServeHTTP;net/http.HandlerFunc.ServeHTTP;main.log.func1";
    let profile = crate::read(
        format!("{server};main.hello;net/http.(*response).Write 10\n{server};fmt.Println 5\n")
            .as_bytes(),
    );
    let profile = profile.unwrap();
    // Writing the response allocated nothing.
    let mut allocations = crate::read(format!("{server};main.hello;hash 64\n").as_bytes());
    let allocations = allocations.as_mut().unwrap();
    allocations.value_types[0].kind = ALLOCATED.to_owned();
    let taken = Taken {
        profile: &profile,
        kind: 0,
        allocations: Some(allocations),
        requests: Some(2.0),
        own: &[],
        source: "test",
    };
    let layers = costs(&taken).unwrap().layers.into_iter();
    let bytes: Vec<_> = layers.map(|layer| (layer.name, layer.bytes_per_request)).collect();
    let expected = [("main.log.func1", Some(0.0)), ("main.hello", Some(32.0))];
    assert_eq!(bytes, expected.map(|(name, bytes)| (name.to_owned(), bytes)));
}

#[test]
fn closures_that_call_each_other_are_layers_in_a_chain_alone() {
    let echo = "github.com/labstack/echo/v4.(*Echo)";
    let (logging, auth) = ("main.main.logging.func1.1", "main.main.auth.func2.1");
    let chain = format!("{echo}.ServeHTTP;{logging}");
    let found = layers(&format!(
        "{chain};main.main.logging.func1.1.1 20\n\
         {chain};{auth} 10\n\
         {chain};{auth};{echo}.add.func1;main.getUser;main.query 50\n"
    ));
    let expected = [(logging, 20, true), (auth, 10, true), ("main.getUser", 50, false)];
    assert_eq!(found, expected.map(|(name, added, next)| (name.to_owned(), added, next)));
    // Elsewhere a closure that a handler calls is part of it.
    let next = "github.com/gin-gonic/gin.(*Context).Next";
    let found = layers(&format!(
        "{next};main.auth.func1;main.tokens.func1 10\n{next};main.auth.func1;{next};main.get.func1 50\n"
    ));
    let expected = [("main.auth.func1", 10, true), ("main.get.func1", 50, false)];
    assert_eq!(found, expected.map(|(name, added, next)| (name.to_owned(), added, next)));
}
