//! In which form an answer is wanted.

use crate::schema::print;
use crate::status::Refusal;
use crate::table::Include;

/// The forms of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The objects themselves.
    Objects,
    /// Rows for people, with as much of the objects.
    Table(Include),
    /// Only the metadata of one object.
    Metadata,
    /// Only the metadata of a list's objects.
    MetadataList,
    /// All groups and kinds in one document.
    Discovery,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) form: Form,
    pub(crate) yaml: bool,
    /// Lines and indents, for people with a browser or curl.
    pub(crate) pretty: bool,
}

impl Answered {
    /// With as much of each object beside its row as the parameter says.
    pub(crate) fn including(mut self, objects: &str) -> Self {
        if let Form::Table(include) = &mut self.form {
            *include = match objects {
                "Object" => Include::Object,
                "None" => Include::None,
                _ => Include::Metadata,
            };
        }
        self
    }
}

/// How much of each object comes along with a table must be said in one of the known words.
pub(crate) fn check(form: Answered, objects: &str) -> Result<(), Refusal> {
    let known = ["", "Metadata", "Object", "None"].contains(&objects);
    if known || !matches!(form.form, Form::Table(_)) {
        return Ok(());
    }
    Err(Refusal::bad_request(format!(
        "Unable to convert to Table as requested: includeObject: Invalid value: {}: must be 'Metadata', 'Object', 'None', or empty",
        print::quoted(objects)
    )))
}

const FORMATS: [&str; 2] = ["application/json", "application/yaml"];

/// What an answer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// Objects of a kind that a definition describes.
    Custom,
    /// Objects of a built-in kind; `all` if it is about many, which can be watched.
    Builtin {
        /// About many.
        all: bool,
    },
    /// Something else.
    Document,
}

/// Chooses the first of the accepted forms that can be given.
pub(crate) fn form(accept: &str, about: About) -> Result<Answered, Refusal> {
    let accept = if accept.trim().is_empty() { "*/*" } else { accept };
    accept
        .split(',')
        .find_map(|range| of_range(range, about != About::Document))
        .ok_or_else(|| refusal(accept, about))
}

/// A type that nothing is written in is refused earlier, for built-in kinds, than a form that objects do not have.
fn refusal(accept: &str, about: About) -> Refusal {
    let types = accept.split(',').filter_map(|range| range.split(';').next());
    let known = types
        .map(str::trim)
        .any(|range| FORMATS.contains(&range) || ["*/*", "application/*"].contains(&range));
    let about = if known { About::Custom } else { about };
    let listed = FORMATS.join(", ");
    let more = match about {
        About::Custom => return Refusal::not_acceptable(&FORMATS),
        About::Builtin { all: true } => ", application/json;stream=watch",
        About::Builtin { all: false } | About::Document => "",
    };
    let text = format!("406: Not Acceptable\n\nAvailable representations: {listed}{more}");
    Refusal::unrouted(406, "NotAcceptable", &text)
}

fn of_range(range: &str, objects: bool) -> Option<Answered> {
    let mut parts = range.split(';').map(str::trim);
    let yaml = match parts.next()? {
        "*/*" | "application/*" | "application/json" => false,
        "application/yaml" => true,
        _ => return None,
    };
    let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
    let get =
        |name: &str| parameters.iter().find(|(found, _)| *found == name).map_or("", |(_, value)| *value);
    let pretty = get("pretty") == "1";
    let form = match (get("as"), get("g"), get("v")) {
        ("", "", "") => Form::Objects,
        ("Table", "meta.k8s.io", "v1") if objects => Form::Table(Include::Metadata),
        ("PartialObjectMetadata", "meta.k8s.io", "v1") if objects => Form::Metadata,
        ("PartialObjectMetadataList", "meta.k8s.io", "v1") if objects => Form::MetadataList,
        ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") if !objects => Form::Discovery,
        _ => return None,
    };
    Some(Answered { form, yaml, pretty })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_form_that_can_be_given_is_chosen() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(form(table, About::Custom).unwrap().form, Form::Table(Include::Metadata));
        assert_eq!(form(table, About::Document).unwrap().form, Form::Objects);
        assert_eq!(form("", About::Custom).unwrap().form, Form::Objects);
        assert!(form("application/vnd.kubernetes.protobuf, application/yaml", About::Custom).unwrap().yaml);
        let groups = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
        assert_eq!(form(groups, About::Document).unwrap().form, Form::Discovery);
        assert!(form("text/html", About::Custom).is_err());
        let older = groups.split(',').next().unwrap().replace("v2", "v2beta1");
        assert!(form(&older, About::Document).is_err());
    }
}
