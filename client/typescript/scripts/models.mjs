// Prints the types of src/generated/models.ts from an OpenAPI document of the server.
//   node scripts/models.mjs openapi.json > src/generated/models.ts
import { readFileSync } from "node:fs";

const schemas = JSON.parse(readFileSync(process.argv[2], "utf8")).components.schemas;

/** A description must not end the comment that contains it. */
const comment = (text) => text.replaceAll("*/", "* /");

function type(schema, indent) {
  if (schema.$ref) {
    return schema.$ref.split("/").pop();
  }
  if (schema.enum) {
    return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  }
  if (schema.oneOf) {
    return schema.oneOf.map((one) => type(one, indent)).join(" | ");
  }
  switch (schema.type) {
    case "string":
    case "boolean":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array": {
      const item = type(schema.items, indent);
      return /[ {]/.test(item) ? `Array<${item}>` : `${item}[]`;
    }
    case "object":
      return object(schema, indent);
    default:
      return "unknown";
  }
}

function object(schema, indent) {
  if (!schema.properties) {
    const values = schema.additionalProperties;
    return `Record<string, ${values && typeof values === "object" ? type(values, indent) : "unknown"}>`;
  }
  const required = new Set(schema.required ?? []);
  const inner = indent + "  ";
  const lines = Object.entries(schema.properties).flatMap(([name, value]) => {
    const note = [value.description, value.deprecated && "@deprecated"].filter(Boolean).join(" ");
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const field = `${inner}${key}${required.has(name) ? "" : "?"}: ${type(value, inner)};`;
    return note ? [`${inner}/** ${comment(note)} */`, field] : [field];
  });
  return `{\n${lines.join("\n")}\n${indent}}`;
}

const parts = Object.entries(schemas)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, schema]) => {
    const note = schema.description ? `/** ${comment(schema.description)} */\n` : "";
    return schema.properties
      ? `${note}export interface ${name} ${object(schema, "")}\n`
      : `${note}export type ${name} = ${type(schema, "")};\n`;
  });
process.stdout.write(
  `// Made by scripts/models.mjs from the OpenAPI document of the server. Do not edit.\n\n${parts.join("\n")}`,
);
