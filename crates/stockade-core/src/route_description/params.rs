//! Checks that a type matches the path parameters.

use std::any::type_name;

use serde::de::DeserializeOwned;
use stockade_validation::HasSchema;
use stockade_validation::read_internals::{Fit, ParamShape, fit_of, read_nothing, shape_of};

use crate::RouteDescription;
use crate::extract::TypeInfo;

impl RouteDescription {
    /// Declares the type for the path parameters: the `T` of a `Path<T>`.
    pub fn reads_params<T: HasSchema + DeserializeOwned>(&mut self) {
        self.reads_type(TypeInfo::of::<T>(&mut None), type_name::<T>());
    }

    fn reads_type(&mut self, mut info: TypeInfo<'_>, type_name: &str) {
        let count = self.params.len();
        let optional = self.params.iter().find(|(_, optional)| *optional);
        let optional = optional.map(|(name, _)| name.clone());
        match (shape_of(info.target), optional) {
            (ParamShape::Single, _) if count != 1 => self.issue(format!(
                "`Path<{type_name}>` takes one parameter, but the path has \
                 {count}"
            )),
            (ParamShape::Single, Some(name)) if !read_nothing(info.target) => self.issue(format!(
                "`{name}` is optional in the path: write `Path<Option<{type_name}>>`"
            )),
            (ParamShape::Tuple(length), _) if length != count => self.issue(format!(
                "`Path<{type_name}>` takes {length} parameters, but the path has {count}"
            )),
            (ParamShape::Tuple(_), Some(name)) => self.issue(format!(
                "`{name}` is optional in the path, but a tuple cannot show which value is \
                 missing: use a struct"
            )),
            (ParamShape::Fields(fields), optional) => {
                self.reads_fields(&mut info, type_name, fields, optional.is_some());
            }
            _ => {}
        }
    }

    fn reads_fields(
        &mut self,
        info: &mut TypeInfo<'_>,
        type_name: &str,
        fields: &[&str],
        some_optional: bool,
    ) {
        let names: Vec<&str> = self.params.iter().map(|(name, _)| name.as_str()).collect();
        let mut mistakes = Vec::new();
        for field in fields.iter().filter(|field| !names.contains(field)) {
            // serde also lists the aliases of a field. An alias of a present
            // field is reported as a duplicate.
            let fit = fit_of(info.target, &[names.as_slice(), &[*field]].concat());
            if fit != Fit::Duplicate {
                mistakes.push(format!(
                    "`Path<{type_name}>` reads `{field}`, but the path does not have it"
                ));
            }
        }
        if some_optional && mistakes.is_empty() {
            let required = self.params.iter().filter(|(_, optional)| !optional);
            let required: Vec<&str> = required.map(|(name, _)| name.as_str()).collect();
            if let Fit::Missing(field) = fit_of(info.target, &required)
                && !(info.schema)().is_ok_and(|schema| schema.fills(field))
            {
                mistakes.push(format!(
                    "`{field}` is optional in the path: make it an `Option` in `{type_name}`, or \
                     add a default"
                ));
            }
        }
        self.mistakes.extend(mistakes);
    }
}
