//! A wrapper function: it translates the program's handles, calls the vendor's function, and translates its handles
//! back.

use std::fmt::Write as _;

use miette::{Context as _, miette};

use crate::{
    api::{self, Api, Function, Parameter},
    rules::{self, Answer, Query},
};

/// Class of a parameter.
enum Class {
    /// A handle of this kind.
    Handle(String),
    /// A list to be filled: its length is the parameter before it, the number of available elements the one after it.
    Fill(String),
    /// The number of available elements, after a list to be filled.
    Filled,
    /// A list to be read, and the parameter that says how long it is.
    List(String, String),
    /// The place of the one event that the call makes.
    Event,
    /// A callback that gets a handle, and the function of ours that the vendor calls.
    Callback(String, &'static str),
    /// The data that a callback gets in addition.
    UserData,
    /// `cl_image_desc`.
    ImageDescription,
    /// A list of properties; the value says whether they are a context's.
    Properties(bool),
    /// The size of an answer with handles in it.
    AnswerSize,
    /// Passed on as it is.
    Plain,
}

/// The function whose callback gets the object that the call makes, maybe before the call has returned.
const MAKES: &str = "clLinkProgram";

/// The text of a wrapper function, in parts.
struct Wrapper<'a> {
    name: &'a str,
    function: &'a Function,
    /// The first parameter that is a handle: new objects belong to it.
    owner: Option<&'a Parameter>,
    queries: Vec<&'a Query>,
    before: String,
    /// Code after all checks that may refuse the call: it makes callbacks, which have to be freed.
    last: String,
    arguments: Vec<String>,
    after: String,
    /// Objects that a new object holds, in addition to its owner.
    holds: String,
    has_callback: bool,
}

/// Writes the function `name` of the wrapper.
pub(crate) fn function(api: &Api, name: &str, function: &Function) -> miette::Result<String> {
    let owner = (function.parameters.iter()).find(|p| rules::kind(&p.text()).is_some());
    let mut wrapper = Wrapper {
        name,
        function,
        owner,
        queries: rules::QUERIES.iter().filter(|q| q.0 == name).collect(),
        before: String::new(),
        last: String::new(),
        arguments: Vec::new(),
        after: String::new(),
        holds: "Held::nothing()".into(),
        has_callback: false,
    };
    if !wrapper.queries.is_empty() && !function.has("param_value_size_ret") {
        return Err(miette!(
            "{name} is not a query, but has rows in the table of queries"
        ));
    }
    for index in 0..function.parameters.len() {
        let class = wrapper.class(index)?;
        (wrapper.parameter(api, index, &class))
            .wrap_err_with(|| format!("{name}, parameter {index}"))?;
    }
    wrapper.text(api)
}

impl Wrapper<'_> {
    fn class(&self, index: usize) -> miette::Result<Class> {
        let parameters = &self.function.parameters;
        let p = &parameters[index];
        let previous = index.checked_sub(1).map(|i| &parameters[i]);
        let fills = rules::FILLS.contains(&self.name);
        if let Some(kind) = rules::kind(&p.text()) {
            return Ok(Class::Handle(kind));
        }
        if let Some(callback) = api::function_pointer(&p.ty) {
            return self.callback(callback);
        }
        if p.name == "user_data" && self.has_callback {
            return Ok(Class::UserData);
        }
        let Some(pointee) = p.pointee() else {
            return Ok(Class::Plain);
        };
        if let Some(kind) = rules::kind(&pointee) {
            if fills {
                return Ok(Class::Fill(kind));
            }
            if let Some(count) = previous.filter(|p| p.name.starts_with("num_")) {
                return Ok(Class::List(kind, count.name.clone()));
            }
            if pointee == "cl_event" && p.name.starts_with("event") && !p.is_const() {
                return Ok(Class::Event);
            }
            return Err(self.unknown(p));
        }
        let behind_list = previous.and_then(Parameter::pointee);
        if fills && behind_list.is_some_and(|pointee| rules::kind(&pointee).is_some()) {
            return Ok(Class::Filled);
        }
        if pointee == "cl_image_desc" {
            return Ok(Class::ImageDescription);
        }
        if let Some(context) = rules::properties(&pointee) {
            return Ok(Class::Properties(context));
        }
        if p.name == "param_value_size_ret" && !self.queries.is_empty() {
            return Ok(Class::AnswerSize);
        }
        let plain = rules::PLAIN.contains(&&*pointee) || pointee == rules::BYTES;
        match plain {
            true => Ok(Class::Plain),
            false => Err(self.unknown(p)),
        }
    }

    fn callback(&self, callback: &syn::TypeFnPtr) -> miette::Result<Class> {
        let types: Vec<_> = callback.inputs.iter().map(|i| api::text(&i.ty)).collect();
        let Some(kind) = types.first().and_then(|first| rules::kind(first)) else {
            // One is the program's own data. A second one may be an object.
            let places = types.iter().filter(|ty| *ty == "*mutc_void").count();
            let handles = types.iter().any(|ty| rules::kind(ty).is_some());
            return match places > 1 || handles {
                true => Err(miette!("{}: no rule for its callback", self.name)),
                false => Ok(Class::Plain),
            };
        };
        let ours = match types.get(1).map(String::as_str) {
            Some("*mutc_void") => "callbacks::object_called",
            Some("cl_int") => "callbacks::event_called",
            Some("cl_uint") => "callbacks::svm_called",
            _ => return Err(miette!("{}: no rule for its callback", self.name)),
        };
        Ok(Class::Callback(kind, ours))
    }

    fn unknown(&self, p: &Parameter) -> miette::Report {
        miette!(
            "{}: no rule for the parameter {}: {}",
            self.name,
            p.name,
            p.text()
        )
    }

    fn owner(&self) -> &str {
        self.owner.map_or("null_mut()", |owner| &owner.name)
    }

    fn before(&mut self, line: &str) {
        let _ = writeln!(self.before, "{line}");
    }

    fn after(&mut self, line: &str) {
        let _ = writeln!(self.after, "{line}");
    }

    fn parameter(&mut self, api: &Api, index: usize, class: &Class) -> miette::Result<()> {
        let n = self.function.parameters[index].name.clone();
        let owner = self.owner().to_owned();
        let previous = match index {
            0 => String::new(),
            _ => self.function.parameters[index - 1].name.clone(),
        };
        match class {
            Class::Plain => self.arguments.push(n),
            // The handle is invalidated before the vendor may use its address for another object.
            Class::Handle(kind) if self.takes_one("clRelease") => {
                self.before(&format!(
                    "let (raw_{n}, _later) = objects::releasing({n}, {kind});"
                ));
                self.arguments.push(format!("raw_{n}"));
            }
            Class::Handle(kind) => {
                self.before(&format!("let raw_{n} = objects::raw({n}, {kind});"));
                self.arguments.push(format!("raw_{n}"));
            }
            Class::Fill(kind) => {
                let make = match self.name {
                    "clGetDeviceIDs" => "root",
                    _ => "adopt",
                };
                self.after(&format!(
                    "if result == 0 && !{n}.is_null() {{
                        for handle in answers::list({n}, found.min({previous})) {{
                            *handle = objects::{make}(*handle, {kind}, {owner}, Held::nothing());
                        }}
                    }}"
                ));
                self.arguments.push(n);
            }
            Class::Filled => {
                self.before("let mut found = 0u32;");
                self.arguments.push(format!(
                    "if {previous}.is_null() {{ {n} }} else {{ &mut found }}"
                ));
                self.after(&format!(
                    "if !{n}.is_null() && !{previous}.is_null() {{ *{n} = found; }}"
                ));
            }
            Class::List(kind, count) => self.list(&n, kind, count)?,
            Class::Event => {
                self.before("let mut made: *mut c_void = null_mut();");
                self.arguments.push(format!(
                    "if {n}.is_null() {{ null_mut() }} else {{ &mut made }}"
                ));
                let enqueued = match self.gives_address(api)? {
                    true => "!result.is_null()",
                    false => "arguments::enqueued(result)",
                };
                self.after(&format!(
                    "if !made.is_null() && {enqueued} {{
                        *{n} = objects::adopt(made, Kind::Event, {owner}, Held::nothing());
                    }}"
                ));
            }
            Class::Callback(kind, ours) => self.set_callback(&n, kind, ours),
            Class::UserData => {
                (self.arguments).push(format!(
                    "if callback.is_null() {{ {n} }} else {{ callback.cast() }}"
                ));
            }
            Class::ImageDescription => {
                self.before(&format!(
                    "let description = ImageDescription::new({n}.cast());"
                ));
                self.arguments.push("description.pointer()".into());
                self.holds = "description.held()".into();
            }
            Class::Properties(context) => {
                self.before(&format!(
                    "let translated = arguments::properties({n}.cast(), {context});"
                ));
                self.arguments.push(format!(
                    "if {n}.is_null() {{ {n} }} else {{ translated.as_ptr().cast() }}"
                ));
            }
            Class::AnswerSize => {
                self.before("let mut size = 0usize;");
                self.arguments.push("&mut size".into());
                self.answers(api, &n)?;
            }
        }
        Ok(())
    }

    fn list(&mut self, n: &str, kind: &str, count: &str) -> miette::Result<()> {
        self.before(&format!(
            "let list_{n} = List::new({count}, {n}.cast(), {kind});"
        ));
        let cast = match (self.function.parameters.iter()).any(|p| p.name == n && p.is_const()) {
            true => "",
            false => ".cast_mut()",
        };
        self.arguments.push(format!("list_{n}.pointer(){cast}"));
        // Not every vendor checks the elements.
        let code = rules::bad_list(self.name, kind)
            .ok_or_else(|| miette!("{}: no error for a list of {kind}", self.name))?;
        let answer = match self.function.has("errcode_ret") {
            true => format!("arguments::fail(errcode_ret, {code})"),
            false => code.to_string(),
        };
        let has = match rules::takes_null(self.name) {
            true => "has_stranger",
            false => "has_null",
        };
        self.before(&format!("if list_{n}.{has}() {{ return {answer}; }}"));
        if self.name == "clCreateContext" {
            self.holds = format!("Held::all({count}, {n})");
        }
        Ok(())
    }

    fn set_callback(&mut self, n: &str, kind: &str, ours: &str) {
        self.has_callback = true;
        let owner = self.owner().to_owned();
        // The program that `clLinkProgram` makes has no handle yet.
        let object = match self.name {
            MAKES => "null_mut()",
            _ => &owner,
        };
        let outlives = rules::outlives(self.name);
        let _ = writeln!(
            self.last,
            "let callback = Callback::new({n}.map_or(0, |f| f as usize), user_data, {object}, {kind}, {owner}, {outlives});"
        );
        self.arguments.push(format!(
            "if callback.is_null() {{ None }} else {{ Some({ours}) }}"
        ));
        let success = match self
            .function
            .result_text()
            .is_some_and(|t| rules::kind(&t).is_some())
        {
            true => "!result.is_null()",
            false => match &self.function.result {
                Some(_) => "result == 0",
                None => "true",
            },
        };
        let told = rules::told_of_failure(self.name);
        if self.name == MAKES {
            self.after(&format!(
                "let made = Callback::made(callback, result, {kind}, {owner});"
            ));
        }
        self.after(&format!("Callback::set(callback, {success}, {told});"));
    }

    /// Whether it is a function of this kind for one object.
    fn takes_one(&self, prefix: &str) -> bool {
        self.name.starts_with(prefix) && self.function.parameters.len() == 1
    }

    /// Whether it returns an address, which is null where it has failed.
    fn gives_address(&self, api: &Api) -> miette::Result<bool> {
        let result = self.function.result.as_ref();
        let machine = result.map(|ty| api.machine(ty)).transpose()?;
        Ok(machine.is_some_and(|ty| ty.starts_with('*')))
    }

    fn answers(&mut self, api: &Api, n: &str) -> miette::Result<()> {
        let owner = self.owner().to_owned();
        let mut rows = String::new();
        for (_, name, answer) in self.queries.clone() {
            let value = api.constant(name)?;
            let call = match answer {
                Answer::Handles(ty) => {
                    let kind = rules::kind(ty).ok_or_else(|| miette!("{ty} is not a handle"))?;
                    format!(
                        "answers::handles(param_value, size.min(param_value_size), {kind}, {owner})"
                    )
                }
                Answer::ContextProperties => {
                    format!(
                        "answers::context_properties(param_value, size.min(param_value_size), {owner})"
                    )
                }
                Answer::DeviceLists => format!(
                    "answers::device_lists(param_value, size.min(param_value_size), {owner})"
                ),
                Answer::Extensions | Answer::ExtensionVersions => {
                    let query = match answer {
                        Answer::Extensions => "offered::names",
                        _ => "offered::versions",
                    };
                    self.before(&format!(
                        "// {name}
                        if param_name == {value} {{
                            return {query}(|size, value, ret| vendor(raw_{owner}, param_name, size, value, ret), param_value_size, param_value, {n}, &[]);
                        }}"
                    ));
                    continue;
                }
            };
            let _ = writeln!(rows, "// {name}\nif param_name == {value} {{ {call}; }}");
        }
        self.after(&format!(
            "if result == 0 && !{n}.is_null() {{ *{n} = size; }}
            if result == 0 && !param_value.is_null() {{
                {rows}
            }}"
        ));
        Ok(())
    }

    /// Counts the reference of a retained object after the vendor's function has succeeded.
    fn lifetime(&mut self) {
        if let Some(owner) = self.owner.filter(|_| self.takes_one("clRetain")) {
            let n = owner.name.clone();
            self.after(&format!("if result == 0 {{ objects::retained({n}); }}"));
        }
    }

    fn text(mut self, api: &Api) -> miette::Result<String> {
        self.lifetime();
        let machine = (self.function.result.as_ref())
            .map(|ty| api.machine(ty))
            .transpose()?;
        let missing = match (machine.as_deref(), self.function.has("errcode_ret")) {
            (Some("i32"), _) => "INVALID_OPERATION",
            (_, true) => "unsafe { arguments::fail(errcode_ret, INVALID_OPERATION) }",
            (None, _) => "",
            (Some(ty), _) if ty.starts_with('*') => "null_mut()",
            (Some(_), _) => "0",
        };
        let missing = match missing.strip_prefix("unsafe ") {
            Some(block) => format!(
                "// SAFETY: the place of an error is the caller's, or null.\nreturn unsafe {block};"
            ),
            None => format!("return {missing};"),
        };
        let call = format!("vendor({})", self.arguments.join(", "));
        let kind = self.function.result_text().and_then(|ty| rules::kind(&ty));
        let body = match (&machine, kind) {
            (None, _) => format!("{call};\n{}", self.after),
            (Some(_), None) => match self.after.is_empty() {
                true => call,
                false => format!("let result = {call};\n{}result", self.after),
            },
            (Some(_), Some(kind)) => {
                let owner = match self.name {
                    // Otherwise a chain of clones would never end.
                    "clCloneKernel" => format!("objects::parent({})", self.owner()),
                    _ => self.owner().to_owned(),
                };
                let made = match self.name {
                    MAKES => "made".to_owned(),
                    _ => format!("objects::adopt(result, {kind}, {owner}, {})", self.holds),
                };
                let checked = match self.function.has("errcode_ret") {
                    true => format!("arguments::made({made}, errcode_ret)"),
                    false => made,
                };
                format!(
                    "let result = {call};\n{}if result.is_null() {{ return result; }}\n{checked}",
                    self.after
                )
            }
        };
        let name = self.name;
        let of_copies = rules::of_copies(name).map_or_else(String::new, |function| {
            let arguments: Vec<_> = self.function.parameters.iter().map(|p| &*p.name).collect();
            format!(
                "// SAFETY: the caller's promise.
                if let Some(answer) = unsafe {{ {function}({}) }} {{ return answer; }}",
                arguments.join(", ")
            )
        });
        Ok(format!(
            "pub(crate) unsafe extern \"C\" fn {name}{} {{
                {of_copies}
                let Some(vendor) = platform::vendor().{name} else {{ {missing} }};
                // SAFETY: the arguments are as the specification has them, which the caller answers
                // for; handles among them are looked up, never followed.
                unsafe {{ {} {} {body} }}
            }}\n\n",
            api.signature(self.function)?,
            self.before,
            self.last
        ))
    }
}
