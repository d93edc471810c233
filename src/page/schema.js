// JSON schemas, as far as a form needs them: what kind of field a schema is, what it begins with, and
// what is wrong with a value. The tool itself has the last word; where a schema says more than this
// reads, nothing is refused for it.

const DEPTH_MAX = 12;

/** The schema behind $ref, with allOf put together. */
export function resolve(schema, root, depth = 0) {
  if (schema === true || !schema || typeof schema !== "object" || depth > DEPTH_MAX) return {};
  let found = schema;
  if (typeof schema.$ref === "string") found = { ...follow(schema.$ref, root, depth), ...omit(schema, "$ref") };
  if (Array.isArray(found.allOf)) {
    const all = found.allOf.map((part) => resolve(part, root, depth + 1));
    found = all.reduce(merge, omit(found, "allOf"));
  }
  return found;
}

const omit = (object, name) => Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

function follow(ref, root, depth) {
  if (!ref.startsWith("#")) return {};
  let at = root;
  for (const part of ref.slice(1).split("/").filter(Boolean)) {
    const name = decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~");
    at = at && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return resolve(at, root, depth + 1);
}

function merge(a, b) {
  return { ...a, ...b, properties: { ...a.properties, ...b.properties }, required: [...(a.required || []), ...(b.required || [])] };
}

/** "object" "array" "enum" "choice" "boolean" "integer" "number" "string" "null" "json" */
export function kindOf(schema) {
  if (Array.isArray(schema.enum) || schema.const !== undefined) return "enum";
  const choices = schema.oneOf || schema.anyOf;
  if (Array.isArray(choices)) return choices.length && choices.every((c) => c && c.const !== undefined) ? "enum" : "choice";
  const types = Array.isArray(schema.type) ? schema.type.filter((type) => type !== "null") : [schema.type];
  if (types.length > 1) return "json";
  if (types[0] === "object" || (!types[0] && schema.properties)) return schema.properties ? "object" : "json";
  if (types[0] === "array") return schema.items && typeof schema.items === "object" ? "array" : "json";
  return ["boolean", "integer", "number", "string", "null"].includes(types[0]) ? types[0] : "json";
}

/** [[value, words], …] */
export function options(schema) {
  if (Array.isArray(schema.enum)) return schema.enum.map((value, i) => [value, schema.enumNames?.[i] ?? label(value)]);
  if (schema.const !== undefined) return [[schema.const, label(schema.const)]];
  return (schema.oneOf || schema.anyOf).map((choice) => [choice.const, choice.title ?? label(choice.const)]);
}

const label = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** The type of <input> that fits a format. */
export function inputType(schema) {
  const types = { date: "date", "date-time": "datetime-local", time: "time", email: "email", uri: "url", url: "url",
    password: "password", color: "color" };
  return types[schema.format] || "text";
}

/** Many lines are usual for it. */
export const isLong = (schema) =>
  (schema.maxLength ?? 0) > 200 || ["textarea", "markdown", "multiline"].includes(schema.format) || schema.contentMediaType !== undefined;

/* ---- checking -------------------------------------------------------------------------------- */

const FORMATS = {
  email: [/^[^\s@]+@[^\s@]+\.[^\s@]+$/, "an e-mail address"],
  uri: [/^[a-z][a-z0-9+.-]*:\S+$/i, "an address such as https://example.org"],
  url: [/^[a-z][a-z0-9+.-]*:\S+$/i, "an address such as https://example.org"],
  date: [/^\d{4}-\d\d-\d\d$/, "a date such as 2026-03-01"],
  uuid: [/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i, "a UUID"],
  ipv4: [/^(\d{1,3}\.){3}\d{1,3}$/, "an address such as 192.0.2.1"],
};

function checkText(schema, value) {
  if (typeof value !== "string") return "must be text";
  const length = [...value].length;
  if (schema.minLength !== undefined && length < schema.minLength)
    return schema.minLength === 1 ? "must not be empty" : `must have ${schema.minLength} characters at least`;
  if (schema.maxLength !== undefined && length > schema.maxLength) return `must have ${schema.maxLength} characters at most`;
  const format = Object.hasOwn(FORMATS, schema.format ?? "") ? FORMATS[schema.format] : null;
  if (format && value && !format[0].test(value)) return `must be ${format[1]}`;
  return checkPattern(schema.pattern, value) ? "" : `must look like ${schema.pattern}`;
}

/** Patterns are the tool's: one that is no pattern here, or that could take for ever, decides nothing. */
function checkPattern(pattern, value) {
  if (typeof pattern !== "string" || pattern.length > 200 || value.length > 1000 || /[+*}]\)?[+*{]/.test(pattern)) return true;
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

function checkNumber(schema, value, isWhole) {
  if (typeof value !== "number" || Number.isNaN(value)) return "must be a number";
  if (isWhole && !Number.isInteger(value)) return "must be a whole number";
  if (schema.minimum !== undefined && value < schema.minimum) return `must be ${schema.minimum} at least`;
  if (schema.maximum !== undefined && value > schema.maximum) return `must be ${schema.maximum} at most`;
  if (typeof schema.exclusiveMinimum === "number" && value <= schema.exclusiveMinimum) return `must be more than ${schema.exclusiveMinimum}`;
  if (typeof schema.exclusiveMaximum === "number" && value >= schema.exclusiveMaximum) return `must be less than ${schema.exclusiveMaximum}`;
  return "";
}

/** [[path, words], …]: what is wrong with a value. */
export function check(schema, value, root = schema, path = "", depth = 0) {
  const resolved = resolve(schema, root);
  if (depth > DEPTH_MAX || value === undefined) return [];
  const one = (words) => (words ? [[path, words]] : []);
  switch (kindOf(resolved)) {
    case "object": return checkObject(resolved, value, root, path, depth);
    case "array": return checkArray(resolved, value, root, path, depth);
    case "enum": return one(options(resolved).some(([option]) => same(option, value)) ? "" : "must be one of the choices");
    case "boolean": return one(typeof value === "boolean" ? "" : "must be yes or no");
    case "integer": return one(checkNumber(resolved, value, true));
    case "number": return one(checkNumber(resolved, value, false));
    case "string": return one(checkText(resolved, value));
    default: return [];
  }
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function checkObject(schema, value, root, path, depth) {
  if (!value || typeof value !== "object" || Array.isArray(value)) return [[path, "must be an object"]];
  const wrong = (schema.required || []).filter((name) => value[name] === undefined)
    .map((name) => [`${path}/${name}`, "is needed"]);
  for (const [name, part] of Object.entries(schema.properties || {}))
    wrong.push(...check(part, value[name], root, `${path}/${name}`, depth + 1));
  return wrong;
}

function checkArray(schema, value, root, path, depth) {
  if (!Array.isArray(value)) return [[path, "must be a list"]];
  const wrong = [];
  if (schema.minItems !== undefined && value.length < schema.minItems) wrong.push([path, `needs ${schema.minItems} at least`]);
  if (schema.maxItems !== undefined && value.length > schema.maxItems) wrong.push([path, `may have ${schema.maxItems} at most`]);
  if (schema.uniqueItems && new Set(value.map((item) => JSON.stringify(item))).size < value.length) wrong.push([path, "has something twice"]);
  value.forEach((item, i) => wrong.push(...check(schema.items, item, root, `${path}/${i}`, depth + 1)));
  return wrong;
}
