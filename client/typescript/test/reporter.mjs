// One JSON line for each test, for TypeScriptSdkTest.
import { basename } from "node:path";

export default async function* (source) {
  let errors = "";
  for await (const { type, data } of source) {
    if (type === "test:stderr") {
      errors += data.message;
    }
    if ((type === "test:pass" || type === "test:fail") && data.nesting === 0) {
      const error = type === "test:fail" ? (data.details.error?.cause ?? data.details.error) : undefined;
      const skipped = data.skip === undefined ? {} : { skipped: String(data.skip) };
      const failure = error === undefined ? {} : { failure: `${error?.stack ?? error}\n${errors}` };
      yield `${JSON.stringify({ file: basename(data.file ?? "?"), name: data.name, ...skipped, ...failure })}\n`;
    }
  }
}
