//! The one macro.

/// Makes a plugin of plain functions: any of the kinds `filter`, `predicate`, `pre_hook`, `post_hook`, `failure_hook` and
/// `approver`, and at most one of `settings` (a type to parse the settings into) and `configure` (a function that takes
/// the parsed settings and gives a `Result` of what is to be kept).
///
/// Once in a crate, at its root. Natively it checks the functions' types and makes the plugin that
/// [`fixtures!`](crate::fixtures) runs.
///
/// ```
/// use callgate_sdk::prelude::*;
///
/// #[derive(serde::Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Settings {
///     hosts: Vec<String>,
/// }
///
/// fn check(settings: Settings) -> Result<Settings, String> {
///     if settings.hosts.is_empty() { Err("`hosts` must name at least one".to_owned()) } else { Ok(settings) }
/// }
///
/// fn known_host(call: &ToolCall, _context: &Context) -> Result<bool, String> {
///     let hosts = &settings::<Settings>()?.hosts;
///     Ok(call.text("/host").is_some_and(|host| hosts.contains(&host)))
/// }
///
/// callgate_sdk::export!(predicate = known_host, configure = check);
/// ```
#[macro_export]
macro_rules! export {
    ($($what:ident = $value:path),+ $(,)?) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            struct Plugin;
            $($crate::__export_kind!($what $value);)+
            impl $crate::bindings::setup::exports::callgate::plugin::setup::Guest for Plugin {
                fn configure(settings: ::std::string::String) -> ::std::result::Result<(), ::std::string::String> {
                    $crate::__configure!(&settings; $($what = $value,)+)
                }
            }
            $crate::bindings::setup::export!(Plugin with_types_in $crate::bindings::setup);
        };

        #[cfg(not(target_arch = "wasm32"))]
        #[doc(hidden)]
        #[allow(dead_code, reason = "used by the crate's own fixtures, if it has some")]
        pub fn __callgate_plugin() -> $crate::testing::Plugin {
            fn __callgate_configure(settings: &str) -> ::std::result::Result<(), ::std::string::String> {
                $crate::__configure!(settings; $($what = $value,)+)
            }
            #[allow(unused_mut, reason = "a plugin of no kind is refused by the host")]
            let mut plugin = $crate::testing::Plugin::configured_by(__callgate_configure);
            $($crate::__native_kind!(plugin $what $value);)+
            plugin
        }
    };
}

/// Exports one kind.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_kind {
    (settings $value:path) => {};
    (configure $value:path) => {};
    (filter $f:path) => { $crate::__export_kind!(filter filter visible Visibility $f); };
    (predicate $f:path) => { $crate::__export_kind!(predicate predicate matches Finding $f); };
    (pre_hook $f:path) => { $crate::__export_kind!(pre_hook pre_hook on_call PreOutcome $f); };
    (post_hook $f:path) => { $crate::__export_kind!(post_hook post_hook on_result PostOutcome $f); };
    (failure_hook $f:path) => { $crate::__export_kind!(failure_hook failure_hook on_failure FailureOutcome $f); };
    (approver $f:path) => { $crate::__export_kind!(approver approver review Verdict $f); };
    ($world:ident $interface:ident $function:ident $outcome:ident $f:path) => {
        impl $crate::bindings::$world::exports::callgate::plugin::$interface::Guest for Plugin {
            fn $function() -> ::std::result::Result<$crate::$outcome, ::std::string::String> {
                $crate::entry::$interface($f)
            }
        }
        $crate::bindings::$world::export!(Plugin with_types_in $crate::bindings::$world);
    };
}

/// The body of `configure`.
#[doc(hidden)]
#[macro_export]
macro_rules! __configure {
    ($text:expr;) => { $crate::entry::configure_without($text) };
    ($text:expr; settings = $type:path, $($rest:tt)*) => { $crate::entry::configure_as::<$type>($text) };
    ($text:expr; configure = $f:path, $($rest:tt)*) => { $crate::entry::configure_with($text, $f) };
    ($text:expr; $kind:ident = $f:path, $($rest:tt)*) => { $crate::__configure!($text; $($rest)*) };
}

/// Adds one kind to the native plugin.
#[doc(hidden)]
#[macro_export]
macro_rules! __native_kind {
    ($plugin:ident settings $value:path) => {};
    ($plugin:ident configure $value:path) => {};
    ($plugin:ident filter $f:path) => {
        $plugin.filter = Some(|tool, context| $crate::IntoAnswer::into_answer($f(tool, context)));
    };
    ($plugin:ident predicate $f:path) => {
        $plugin.predicate = Some(|call, context| $crate::IntoAnswer::into_answer($f(call, context)));
    };
    ($plugin:ident pre_hook $f:path) => {
        $plugin.pre_hook = Some(|call, context| $crate::IntoAnswer::into_answer($f(call, context)));
    };
    ($plugin:ident post_hook $f:path) => {
        $plugin.post_hook = Some(|call, result, context| $crate::IntoAnswer::into_answer($f(call, result, context)));
    };
    ($plugin:ident failure_hook $f:path) => {
        $plugin.failure_hook = Some(|call, failure, context| $crate::IntoAnswer::into_answer($f(call, failure, context)));
    };
    ($plugin:ident approver $f:path) => {
        $plugin.approver = Some(|call, question, context| $crate::IntoAnswer::into_answer($f(call, question, context)));
    };
}
