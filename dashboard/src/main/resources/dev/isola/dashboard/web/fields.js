const REFERENCE = '#/components/schemas/';

/** The input for a schema of one value; null if the value is an object with fields. */
function kindOf(schema) {
  if (schema.enum) return 'choice';
  if (schema.type === 'boolean') return 'flag';
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  if (schema.type === 'array') return schema.items.type === 'string' || schema.items.type === 'integer' ? 'list' : 'json';
  if (schema.type === 'object') return schema.properties ? null : 'pairs';
  return 'text';
}

/**
 * The fields of a create request, from the OpenAPI document of the server: a field that the server has is a field
 * here. Those of nested objects are named with dots.
 */
export function fieldsOf(document, covered) {
  const schemas = document.components.schemas;
  const resolve = (schema) => {
    const target = schema.$ref ? schemas[schema.$ref.slice(REFERENCE.length)] : schema;
    if (target.oneOf) return resolve(target.oneOf[0]);
    return target.items ? { ...target, items: resolve(target.items) } : target;
  };
  const found = [];
  const walk = (object, prefix) => {
    for (const [name, field] of Object.entries(object.properties)) {
      const path = prefix + name;
      if (field.deprecated || covered.has(path)) continue;
      const schema = resolve(field);
      const kind = kindOf(schema);
      if (kind) found.push({ path, kind, schema, secret: field.writeOnly === true, hint: field.description });
      else walk(schema, `${path}.`);
    }
  };
  walk(schemas.CreateSandboxRequest, '');
  return found;
}

/** `NAME=VALUE` lines as an object. */
export function pairs(text) {
  const result = {};
  for (const line of text.split('\n').map((one) => one.trim()).filter(Boolean)) {
    const at = line.indexOf('=');
    if (at < 1) throw new Error(`"${line}" is not NAME=VALUE`);
    result[line.slice(0, at)] = line.slice(at + 1);
  }
  return result;
}

function valueOf({ kind, schema, path }, text) {
  switch (kind) {
    case 'flag': return text === 'true';
    case 'number': return Number(text);
    case 'pairs': return pairs(text);
    case 'list': {
      const words = text.split(/[\s,]+/).filter(Boolean);
      return schema.items.type === 'integer' ? words.map(Number) : words;
    }
    case 'json':
      try {
        return JSON.parse(text);
      } catch {
        throw new Error(`${path} is not a list in JSON`);
      }
    default: return text;
  }
}

/** Adds the values of a form, which are texts by the path of their field, to a request. */
export function addFields(request, fields, texts) {
  for (const field of fields) {
    const text = texts[field.path] ?? '';
    if (text === '') continue;
    const names = field.path.split('.');
    let object = request;
    for (const name of names.slice(0, -1)) {
      object[name] = { ...object[name] };
      object = object[name];
    }
    object[names.at(-1)] = valueOf(field, text);
  }
  return request;
}
