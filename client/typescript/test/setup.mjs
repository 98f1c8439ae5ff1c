// What the tests share. The server is that of ISOLA_URL and ISOLA_API_KEY; TypeScriptSdkTest starts it.
import { createServer } from "node:http";
import { Isola, Unsupported } from "@isola/sdk";

export const isola = new Isola();

/** Runs a test with a sandbox that is destroyed afterwards. It is not run if the provider cannot make the sandbox here. */
export const withSandbox =
  (test, spec = {}) =>
  async (context) => {
    let sandbox;
    try {
      sandbox = await isola.create({ ttlSeconds: 600, ...spec });
    } catch (error) {
      if (error instanceof Unsupported) {
        return context.skip(error.message);
      }
      throw error;
    }
    try {
      await test(sandbox, context);
    } finally {
      await sandbox.destroy({ force: true });
    }
  };

/** Runs a test against a server of its own that answers as `answer` says; for answers that Isola never gives. */
export const withServer = (answer, test, options) => async () => {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  try {
    await test(new Isola({ url, key: "key", reconnectForMs: 300, ...options }), url);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
};

/** Waits for a condition, for at most 30 seconds. */
export async function until(condition) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const value = await condition();
    if (value) {
      return value;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not within 30 seconds: ${condition}`);
}
