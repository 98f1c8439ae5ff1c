export type QueryValue = string | number | boolean | readonly string[] | undefined;

/** Percent-encodes a segment, so that an id or a file name cannot change the path. */
function encode(part: string): string {
  const encoded = encodeURIComponent(part);
  return /^\.{1,2}$/.test(encoded) ? encoded.replaceAll(".", "%2E") : encoded;
}

/** Returns a path of the API. */
export function apiPath(...parts: string[]): string {
  return `/api/v1${parts.map((part) => `/${encode(part)}`).join("")}`;
}

/** Returns a path with a query. Parameters without a value are left out; lists repeat theirs. */
export function withQuery(path: string, query: Record<string, QueryValue>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (value === undefined ? [] : Array.isArray(value) ? (value as readonly string[]) : [value]).map(
      (one) => `${name}=${encodeURIComponent(String(one))}`,
    ),
  );
  return pairs.length === 0 ? path : `${path}${path.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}
