import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ERROR_CODES } from "@isola/sdk";

const source = process.env.ISOLA_TEST_SOURCE;

test("the generated types are those of the server's OpenAPI document", async () => {
  const folder = mkdtempSync(join(tmpdir(), "isola-models-"));
  try {
    const document = join(folder, "openapi.json");
    writeFileSync(document, await (await fetch(`${process.env.ISOLA_URL}/api/v1/openapi.json`)).text());
    const made = execFileSync(process.execPath, [join(source, "scripts/models.mjs"), document], { encoding: "utf8" });
    const committed = readFileSync(join(source, "src/generated/models.ts"), "utf8");
    assert.ok(made === committed, "run client/typescript/scripts/models.mjs on /api/v1/openapi.json and commit the result");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("each code of the contract has its class, and no other code has one", () => {
  const contract = JSON.parse(process.env.ISOLA_TEST_CODES);
  const { SERVER_UNREACHABLE, ...codes } = ERROR_CODES;
  assert.equal(SERVER_UNREACHABLE, "ProviderUnavailable");
  assert.deepEqual(Object.fromEntries(Object.entries(codes).sort()), Object.fromEntries(Object.entries(contract).sort()));
});
