//! Fixed words stay apart from the values beside them, however many values there are.

use std::collections::BTreeSet;

use mine::{Filter, Format, Survey};

/// The templates of paths that are read, or asked for by the method that stands before them.
fn templates(paths: &[String]) -> BTreeSet<String> {
    let mut text = String::new();
    for (n, path) in paths.iter().enumerate() {
        let second = n % 60;
        let (method, path) = path.split_once(' ').unwrap_or(("GET", path));
        text += &format!(
            "10.0.0.1 - - [23/Nov/2026:10:00:{second:02} +0100] \"{method} {path} HTTP/1.1\" 200 7 \"-\" \"x\"\n"
        );
    }
    let mut survey = Survey::new(&Filter::default());
    survey.read(text.as_bytes(), 0, &mut Format::named("combined").unwrap().reader());
    let surveyed = survey.finish(3_600).unwrap();
    surveyed.templates().all().iter().map(mine::Template::text).collect()
}

/// A name of letters, another for each number.
fn name(n: u64) -> String {
    let drawn = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..9).map(|at| char::from(b'a' + (drawn >> (at * 5) & 15) as u8)).collect()
}

#[test]
fn words_that_one_knows_stay_beside_more_values_than_are_kept() {
    let mut paths = Vec::new();
    for n in 0..6_000 {
        paths.push(format!("/{}", name(n)));
        paths.push(format!("/{}/stars", name(n)));
        // One from the beginning on, one when values were put together long before.
        if n % 40 == 0 {
            paths.push("/notifications/beta".to_owned());
        }
        if n > 5_000 && n % 40 == 1 {
            paths.push("/settings/emails".to_owned());
        }
    }
    let found = templates(&paths);
    for wanted in ["/{name}", "/{name}/stars", "/notifications/beta", "/settings/emails"] {
        assert!(found.contains(wanted), "{wanted}: {found:?}");
    }
    assert!(found.len() < 8, "{found:?}");
}

#[test]
fn hashes_that_look_like_numbers_or_words_are_hashes() {
    let hash = |n: u64| format!("{:07x}", (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 36);
    let mut paths: Vec<String> = (0..400).map(|n| format!("/commits/{}", hash(n))).collect();
    for drawn in ["1234567", "deadbee", "a123456"] {
        paths.push(format!("/commits/{drawn}"));
    }
    assert_eq!(templates(&paths), BTreeSet::from(["/commits/{hash}".to_owned()]));
    // Numbers of another length are something else.
    paths.extend((0..400).map(|n| format!("/commits/{}", 10_000 + n)));
    let both = ["/commits/{hash}", "/commits/{id}"].map(str::to_owned);
    assert_eq!(templates(&paths), BTreeSet::from(both));
}

#[test]
fn a_word_with_routes_of_its_own_is_none_of_the_values() {
    let mut paths = Vec::new();
    for n in 0..1_200 {
        paths.push(format!("/{}", name(n % 300)));
        paths.push(format!("/{}/{n}", name(n % 300)));
        if n % 20 == 0 {
            // Its children are of kinds that the values have too, in other proportions.
            paths.push(format!("/xylotheque/{n}"));
        }
    }
    let found = templates(&paths);
    for wanted in ["/{name}", "/{name}/{id}", "/xylotheque/{id}"] {
        assert!(found.contains(wanted), "{wanted}: {found:?}");
    }
    assert!(found.len() < 6, "{found:?}");
}

#[test]
fn a_word_that_is_asked_for_in_a_way_of_its_own_is_none_of_the_values() {
    let mut paths = Vec::new();
    for n in 0..1_200 {
        paths.push(format!("/{}", name(n % 300)));
        if n % 20 == 0 {
            // It ends where values end, with a query that they do not have.
            paths.push(format!("/xylotheque?leaf={n}"));
        }
    }
    let found = templates(&paths);
    assert!(found.contains("/xylotheque") && found.contains("/{name}"), "{found:?}");
}

#[test]
fn a_rare_word_that_is_asked_for_by_another_method_is_none_of_the_values() {
    for (count, names) in [(600, 200), (6_000, 4_000)] {
        let mut paths = Vec::new();
        for n in 0..count {
            paths.push(format!("/{}", name(n % names)));
            paths.push(format!("/{}/status/{n}", name(n % names)));
            // Words that one does not know follow others too, and others are written to.
            paths.push(format!("/hashtag/{}", name(n)));
            paths.push(format!("POST /users/{}/inbox", name(n)));
            if n % (count / 3) == count / 6 {
                paths.push("POST /transparency/dsa-appeal".to_owned());
            }
        }
        let found = templates(&paths);
        for wanted in ["/{name}", "/{name}/status/{id}", "/transparency/dsa-appeal"] {
            assert!(found.contains(wanted), "{count}: {wanted}: {found:?}");
        }
        assert!(found.len() < 10, "{found:?}");
    }
}

#[test]
fn few_codes_that_come_again_and_again_are_fixed() {
    let mut paths = Vec::new();
    for n in 0..20 {
        paths.push(format!("/forms/FRM_{:04}.aspx", 400 + n % 2 * 77));
        paths.push(format!("/parts/SKU-{:04}", 1_000 + n));
    }
    let found = templates(&paths);
    for wanted in ["/forms/FRM_0400.aspx", "/forms/FRM_0477.aspx", "/parts/{code}"] {
        assert!(found.contains(wanted), "{wanted}: {found:?}");
    }
}

#[test]
fn a_place_that_is_no_plural_may_be_followed_by_fixed_years() {
    let mut paths = Vec::new();
    for n in 0..200 {
        paths.push(format!("/census/2011/tables/{n}"));
        paths.push(format!("/census/2021/maps/{n}"));
        paths.push(format!("/orders/{}/items/{n}", 2_011 + n % 2));
    }
    let found = templates(&paths);
    for wanted in
        ["/census/2011/tables/{id}", "/census/2021/maps/{id}", "/orders/{id}/items/{item_id}"]
    {
        assert!(found.contains(wanted), "{wanted}: {found:?}");
    }
}

#[test]
fn words_with_the_same_routes_in_the_same_proportions_are_values() {
    let mut paths = Vec::new();
    for n in 0..6_000 {
        let host = ["gh", "bb", "gl"][n % 3];
        let rest = ["builds", "builds", "logs", "keys"][n / 3 % 4];
        paths.push(format!("/project/{host}/{n}/{rest}"));
        paths.push(format!("/quarter/{}/q{}", 2_000 + n % 40, 1 + n % 4));
        // The same routes, in other proportions.
        let shelf = ["blorp", "frand", "quell"][n % 3];
        let rest = ["spines", "pages", "covers"][if n / 3 % 5 == 0 { n % 3 } else { 0 }];
        paths.push(format!("/shelf/{shelf}/{n}/{rest}"));
        // Versions of an API are no values.
        paths.push(format!("/api/v{}/{n}/{rest}", 1 + n % 3));
        // Names of one namespace; as the end of a path they may be methods.
        let event = ["m.room.message", "m.reaction", "m.sticker"][n % 3];
        paths.push(format!("PUT /send/{event}/{n}"));
        let method = ["chat.update", "chat.delete", "chat.meMessage"][n % 3];
        paths.push(format!("POST /call/{method}"));
    }
    let found = templates(&paths);
    for wanted in [
        "/project/{name}/{id}/builds",
        "/project/{name}/{id}/keys",
        "/quarter/{id}/{name}",
        "/shelf/blorp/{id}/spines",
        "/shelf/frand/{id}/pages",
        "/api/v1/{id}/spines",
        "/api/v3/{id}/covers",
        "/send/{name}/{id}",
        "/call/chat.delete",
    ] {
        assert!(found.contains(wanted), "{wanted}: {found:?}");
    }
}

#[test]
fn a_word_is_none_of_the_values_though_another_has_most_requests() {
    let mut paths = Vec::new();
    for n in 0..4_500 {
        let city = name(n % 150);
        paths.push(format!("/{city}/{}-{}", name(n % 400), name(n % 300)));
        if n / 150 % 3 == 0 {
            paths.push(format!("/{city}"));
        }
        // With these all cities seem to go on in a way of their own.
        paths.push(format!("/quux/plates/{n}"));
        // What follows it follows cities too, in other proportions.
        if n % 60 == 0 {
            paths.push("/xylotheque".to_owned());
        }
        if n % 300 == 0 {
            paths.push(format!("/xylotheque/{}-{}", name(n % 400), name(n % 300)));
        }
    }
    let found = templates(&paths);
    for wanted in ["/{name}", "/{name}/{name_2}", "/quux/plates/{id}", "/xylotheque"] {
        assert!(found.contains(wanted), "{wanted}: {found:?}");
    }
}

#[test]
fn a_word_that_comes_when_values_were_put_together_is_judged_by_what_follows() {
    let users = ["meadow", "kettle", "falcon", "castle"];
    let mut paths = Vec::new();
    for n in 0..6_000 {
        paths.push(format!("/{}", name(n)));
        paths.push(format!("/{}/stars", name(n)));
        if n % 100 == 0 {
            let user = users[n as usize / 100 % users.len()];
            paths.push(format!("/{user}"));
            paths.push(format!("/{user}/stars"));
        }
        if n == 5_900 {
            paths.push("/transparency/quux-frand".to_owned());
        }
    }
    let found = templates(&paths);
    let wanted = ["/{name}", "/{name}/stars", "/transparency/quux-frand"];
    assert_eq!(found, wanted.map(str::to_owned).into());
}

#[test]
fn a_word_is_fixed_however_rare_where_nothing_follows_values_that_follows_it() {
    let mut paths = Vec::new();
    for n in 0..3_000 {
        paths.push(format!("/{}/orders/{n}", name(n % 300)));
        if n % 1_000 == 0 {
            paths.push("/xylotheque/policy/leaf-in-autumn".to_owned());
        }
    }
    let found = templates(&paths);
    assert!(found.contains("/{name}/orders/{id}"), "{found:?}");
    assert!(found.iter().any(|text| text.starts_with("/xylotheque/policy/")), "{found:?}");
}

#[test]
fn a_word_with_routes_of_its_own_stays_beside_more_values_than_are_kept() {
    let mut paths = Vec::new();
    for n in 0..6_000 {
        paths.push(format!("/{}", name(n)));
        paths.push(format!("/{}/stars", name(n)));
        if n % 40 == 0 {
            paths.push("/xylotheque/beta".to_owned());
        }
    }
    let found = templates(&paths);
    for wanted in ["/{name}", "/{name}/stars", "/xylotheque/beta"] {
        assert!(found.contains(wanted), "{wanted}: {found:?}");
    }
    assert!(found.len() < 6, "{found:?}");
}

#[test]
fn a_word_made_of_other_words_than_all_titles_is_fixed_though_it_comes_once() {
    let mut paths: Vec<String> = (0..1_000)
        .map(|n| format!("/blog/{}-{}-{}", name(n % 10), name(n / 10 % 10), name(n / 100)))
        .collect();
    paths.push("/blog/quux-frand".to_owned());
    paths.push("/blog/quell-2026".to_owned());
    let wanted = ["/blog/{name}", "/blog/quux-frand", "/blog/quell-2026"];
    assert_eq!(templates(&paths), wanted.map(str::to_owned).into());
}

#[test]
fn a_word_made_of_other_words_is_fixed_though_it_comes_after_titles_were_put_together() {
    let mut paths = Vec::new();
    for n in 0..6_000 {
        let (first, second, third) = (name(n % 20), name(n / 20 % 20), name(n / 400));
        paths.push(format!("/blog/{first}-{second}-{third}"));
        if n == 1_000 {
            paths.push("/blog/quell-2026".to_owned());
        }
        if n == 5_900 {
            paths.push("/blog/quux-frand".to_owned());
        }
    }
    let wanted = ["/blog/{name}", "/blog/quux-frand", "/blog/quell-2026"];
    assert_eq!(templates(&paths), wanted.map(str::to_owned).into());
}

#[test]
fn a_word_with_many_times_the_requests_of_any_name_is_none_of_them() {
    let mut paths: Vec<String> = (0..600).map(|n| format!("/brands/{}", name(n % 300))).collect();
    paths.extend((0..60).map(|_| "/brands/frand".to_owned()));
    let wanted = ["/brands/{name}", "/brands/frand"];
    assert_eq!(templates(&paths), wanted.map(str::to_owned).into());
}

#[test]
fn words_that_all_values_share_do_not_make_them_words() {
    let mut paths = Vec::new();
    for n in 0..60 {
        let user = &name(n)[..4];
        paths.push(format!("/profile/@{user}:users.search.list"));
        paths.push(format!("/cameras/camera.list.{user}"));
    }
    let wanted = ["/profile/@{name}", "/cameras/{name}"];
    assert_eq!(templates(&paths), wanted.map(str::to_owned).into());
}

#[test]
fn rare_words_beside_identifiers_and_codes_are_none_of_them() {
    let mut paths = Vec::new();
    for n in 0..1_200_u64 {
        let drawn = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        paths.push(format!("/files/{drawn:016x}{:016x}", drawn.rotate_left(23)));
        let (first, second) = (b'A' + (n % 30 / 6) as u8, b'A' + (n % 6) as u8);
        paths.push(format!("/hotels/{}{}", char::from(first), char::from(second)));
        if n % 1_000 == 500 {
            paths.push("/files/Frandings".to_owned());
            paths.push("/hotels/frandings".to_owned());
        }
    }
    let found = templates(&paths);
    let wanted = ["/files/{hash}", "/files/Frandings", "/hotels/{name}", "/hotels/frandings"];
    assert_eq!(found, wanted.map(str::to_owned).into());
}

#[test]
fn titles_of_words_of_their_own_are_values() {
    let paths: Vec<String> = (0..200)
        .map(|n| format!("/blog/{}-{}-{}", name(3 * n), name(3 * n + 1), name(3 * n + 2)))
        .collect();
    assert_eq!(templates(&paths), ["/blog/{name}".to_owned()].into());
}

#[test]
fn a_word_with_signs_beside_names_without_any_is_fixed_though_it_comes_once() {
    let mut paths: Vec<String> = (0..200).map(|n| format!("/pharmacy/{}", name(n))).collect();
    paths.push("/pharmacy/quux-frand".to_owned());
    let wanted = ["/pharmacy/{name}", "/pharmacy/quux-frand"];
    assert_eq!(templates(&paths), wanted.map(str::to_owned).into());
}

#[test]
fn a_word_at_which_no_request_ends_is_none_of_the_names_at_which_all_do() {
    let mut paths: Vec<String> = (0..400).map(|n| format!("/{}", name(n % 200))).collect();
    paths.extend((0..5).map(|n| format!("/frand/{n}")));
    let wanted = ["/{name}", "/frand/{id}"];
    assert_eq!(templates(&paths), wanted.map(str::to_owned).into());
}

#[test]
fn words_behind_a_sign_stay_beside_more_values_than_are_kept() {
    let mut paths = Vec::new();
    for n in 0..6_000 {
        paths.push(format!("/music/{}", name(n)));
        if n == 5_900 {
            paths.push("/music/+quuxbox".to_owned());
        }
    }
    let wanted = ["/music/{name}", "/music/+quuxbox"];
    assert_eq!(templates(&paths), wanted.map(str::to_owned).into());
}

#[test]
fn titles_of_a_namespace_are_values_of_its_own() {
    let mut paths = Vec::new();
    for n in 0..6_000 {
        paths.push(format!("/wiki/Q{}", name(n)));
        paths.push(format!("/wiki/Talk:Q{}", name(n % 900)));
        if n % 50 == 0 {
            paths.push("/wiki/Portal:Current_events".to_owned());
            paths.push("/wiki/Special:Statistics".to_owned());
        }
    }
    let found = templates(&paths);
    for wanted in [
        "/wiki/{name}",
        "/wiki/Talk:{name}",
        "/wiki/Portal:Current_events",
        "/wiki/Special:Statistics",
    ] {
        assert!(found.contains(wanted), "{wanted}: {found:?}");
    }
}

#[test]
fn values_that_come_often_are_one_parameter_where_the_same_routes_follow() {
    let mut paths = Vec::new();
    for n in 0..36_000 {
        // Two routes are rare below each, so that each seems to have something of its own.
        paths.push(match n / 300 % 8 {
            0 => format!("/project/{}/settings", name(n % 300)),
            1 => format!("/project/{}/about", name(n % 300)),
            _ => format!("/project/{}/{n}", name(n % 300)),
        });
    }
    let found = templates(&paths);
    let wanted = ["/project/{name}/{id}", "/project/{name}/settings", "/project/{name}/about"];
    assert_eq!(found, wanted.map(str::to_owned).into());
}

#[test]
fn words_of_paths_that_come_most_often_are_none_of_the_slugs() {
    let mut paths = Vec::new();
    for n in 0..3_000 {
        // Each second article is asked for once, and none more than forty times.
        let article = if n % 2 == 0 { n } else { n % 37 };
        paths.push(format!(
            "/newsroom/{}-{}-{}",
            name(article),
            name(article + 7),
            name(article + 9)
        ));
        if n % 20 == 0 {
            paths.push("/newsroom/tax-scams-and-consumer-alerts".to_owned());
        }
    }
    let found = templates(&paths);
    let wanted = ["/newsroom/{name}", "/newsroom/tax-scams-and-consumer-alerts"];
    assert_eq!(found, wanted.map(str::to_owned).into());
}

#[test]
fn scripts_of_one_language_and_lone_years_are_fixed() {
    let mut paths = Vec::new();
    for n in 0..600 {
        paths.push(format!("/{}/{n}", ["zh-hans", "zh-hant"][n % 2]));
        paths.push(format!("/shop/{}/{n}", ["en", "de", "pt-BR"][n % 3]));
    }
    paths.push("/report/2015/maps".to_owned());
    paths.push("/accounts/1/imports".to_owned());
    paths.push("/orders/2015/items".to_owned());
    let found = templates(&paths);
    for wanted in [
        "/zh-hans/{id}",
        "/zh-hant/{id}",
        "/shop/{locale}/{id}",
        "/report/2015/maps",
        "/accounts/1/imports",
        "/orders/{id}/items",
    ] {
        assert!(found.contains(wanted), "{wanted}: {found:?}");
    }
}
