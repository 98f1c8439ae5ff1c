// Answers that a server of Isola gives rarely or never come from a server of the test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Internal, Isola, IsolaError, OutcomeUnknown, ProviderUnavailable } from "@isola/sdk";
import { withServer } from "./setup.mjs";

const problem = (response, status, code, headers = {}) =>
  response
    .writeHead(status, { "Content-Type": "application/problem+json", ...headers })
    .end(JSON.stringify({ code, detail: "told by the test", remedy: "none", status }));

const json = (response, value) => response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(value));

/** Counts requests, and answers the first of them with `first`. */
function failing(times, first, then = (response) => json(response, { sandboxes: [], id: "x" })) {
  const requests = [];
  const answer = (request, response) => {
    requests.push(request);
    request.resume();
    (requests.length <= times ? first : then)(response, request);
  };
  return { requests, answer };
}

{
  const { requests, answer } = failing(2, (response) => problem(response, 503, "PROVIDER_UNAVAILABLE"));
  test(
    "a read is repeated after 503",
    withServer(answer, async (isola) => {
      assert.deepEqual(await isola.list(), []);
      assert.equal(requests.length, 3);
    }),
  );
}
{
  const { requests, answer } = failing(9, (response) => problem(response, 503, "PROVIDER_UNAVAILABLE"));
  test(
    "repeating ends after the third attempt",
    withServer(answer, async (isola) => {
      await assert.rejects(isola.list(), ProviderUnavailable);
      assert.equal(requests.length, 3);
    }),
  );
}
{
  const { requests, answer } = failing(1, (response) => problem(response, 429, "RATE_LIMITED", { "Retry-After": "1" }));
  test(
    "a read waits as long as Retry-After says",
    withServer(answer, async (isola) => {
      const began = Date.now();
      await isola.list();
      assert.ok(Date.now() - began >= 950, `waited ${Date.now() - began} ms`);
      assert.equal(requests.length, 2);
    }),
  );
}
{
  const { requests, answer } = failing(9, (response) => problem(response, 429, "RATE_LIMITED", { "Retry-After": "3600" }));
  test(
    "a long Retry-After is left to the caller",
    withServer(answer, async (isola) => {
      await assert.rejects(isola.list(), (error) => {
        assert.deepEqual([error.name, error.retryAfter, error.isRetryable], ["LimitExceeded", 3600, true]);
        return true;
      });
      assert.equal(requests.length, 1);
    }),
  );
}
{
  const { requests, answer } = failing(9, (response) => problem(response, 503, "PROVIDER_UNAVAILABLE"));
  test(
    "a command is never repeated",
    withServer(answer, async (isola) => {
      await assert.rejects(isola.sandbox("x").exec("true"), ProviderUnavailable);
      assert.equal(requests.length, 1);
    }),
  );
}
{
  const { requests, answer } = failing(9, (response) => response.destroy());
  test(
    "a lost response is an unknown outcome, for a read it is not",
    withServer(answer, async (isola) => {
      await assert.rejects(isola.sandbox("x").start("true"), OutcomeUnknown);
      assert.equal(requests.length, 1);
      await assert.rejects(isola.list(), { code: "SERVER_UNREACHABLE" });
      assert.equal(requests.length, 4);
    }),
  );
}
{
  const keys = [];
  const answer = (request, response) => {
    keys.push(request.headers["idempotency-key"]);
    request.resume();
    keys.length === 1 ? response.destroy() : json(response, { id: "x" });
  };
  test(
    "a repeated create has the same idempotency key, another create another one",
    withServer(answer, async (isola) => {
      await isola.create();
      await isola.create();
      assert.equal(keys.length, 3);
      assert.equal(keys[0], keys[1]);
      assert.notEqual(keys[1], keys[2]);
    }),
  );
}

test("a server that is not there is unreachable, and nothing was sent", async () => {
  let closed;
  await withServer(
    () => {},
    async (isola, url) => (closed = url),
  )();
  const isola = new Isola({ url: closed, key: "key" });
  await assert.rejects(isola.sandbox("x").start("true"), { code: "SERVER_UNREACHABLE", status: 0, isRetryable: true });
});

test(
  "a server that does not answer is given up",
  withServer(
    () => {},
    async (isola) => {
      await assert.rejects(isola.sandbox("x").start("true"), { code: "DEADLINE_EXCEEDED" });
    },
    { timeoutMs: 200 },
  ),
);

test(
  "an abort ends a call that waits",
  withServer(
    () => {},
    async (isola) => {
      await assert.rejects(isola.list({}, { signal: AbortSignal.timeout(100) }), (error) => {
        assert.equal(error.code, "CANCELLED");
        assert.equal(error.cause.name, "TimeoutError");
        return true;
      });
    },
  ),
);

test(
  "an abort ends a call that waits between attempts",
  withServer(
    (request, response) => problem(response, 503, "PROVIDER_UNAVAILABLE", { "Retry-After": "9" }),
    async (isola) => {
      const began = Date.now();
      await assert.rejects(isola.list({}, { signal: AbortSignal.timeout(100) }), { code: "CANCELLED" });
      assert.ok(Date.now() - began < 5000);
    },
  ),
);

test(
  "an answer that is not Isola's is an error with its status",
  withServer(
    (request, response) => response.writeHead(418).end("<html>"),
    async (isola) => {
      await assert.rejects(isola.list(), { code: "HTTP_418", name: "InvalidRequest" });
    },
  ),
);

test(
  "an unknown code has the class of its status",
  withServer(
    (request, response) => problem(response, 409, "NEW_CODE"),
    async (isola) => {
      await assert.rejects(isola.list(), { code: "NEW_CODE", name: "Conflict", hint: "none" });
    },
  ),
);

test(
  "a body that is not JSON is an error",
  withServer(
    (request, response) => response.end("{"),
    async (isola) => {
      await assert.rejects(isola.list(), Internal);
    },
  ),
);

{
  let elsewhere = 0;
  test(
    "a redirect is not followed",
    withServer(
      (request, response) => {
        elsewhere += request.url === "/elsewhere" ? 1 : 0;
        response.writeHead(307, { Location: "/elsewhere" }).end();
      },
      async (isola) => {
        await assert.rejects(isola.list(), IsolaError);
        assert.equal(elsewhere, 0);
      },
    ),
  );
}

/** Sends bytes for as long as the client reads. */
function endless(response, piece) {
  const send = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", send);
  send();
}

test(
  "an endless line of a hostile server is not collected",
  withServer(
    (request, response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      endless(response, `data: ${"x".repeat(1 << 16)}`);
    },
    async (isola) => {
      await assert.rejects(isola.sandbox("x").execution("1").read(), Internal);
    },
  ),
);

test(
  "an endless answer of a hostile server is not collected",
  withServer(
    (request, response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      endless(response, " ".repeat(1 << 20));
    },
    async (isola) => {
      await assert.rejects(isola.list(), Internal);
    },
  ),
);

for (const [what, event] of Object.entries({
  "a wrong offset": 'event: output\ndata: {"channel":"stdout","offset":"1","data":"x"}',
  "an unknown channel": 'event: output\ndata: {"channel":"other","offset":0,"data":"x"}',
  "invalid base64": 'event: output\ndata: {"channel":"stdout","offset":0,"encoding":"base64","data":"?"}',
  "no JSON": "event: output\ndata: [",
})) {
  test(
    `an event with ${what} ends the stream`,
    withServer(
      (request, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end(`${event}\n\n`),
      async (isola) => {
        await assert.rejects(isola.sandbox("x").execution("1").read(), Internal);
      },
    ),
  );
}

test(
  "output that is sent twice is delivered once, and what is lost is a gap",
  withServer(
    (request, response) => {
      const events = [
        'event: output\ndata: {"channel":"stdout","offset":0,"data":"abc"}',
        'event: output\ndata: {"channel":"stdout","offset":1,"data":"bcd"}',
        'event: gap\ndata: {"offset":4,"lost":6}',
        'event: output\ndata: {"channel":"stdout","offset":10,"data":"e"}',
        'event: exit\ndata: {"kind":"exited","code":0}',
      ];
      response.writeHead(200, { "Content-Type": "text/event-stream" }).end(events.map((one) => `${one}\r\n\r\n`).join(""));
    },
    async (isola) => {
      const seen = [];
      for await (const output of isola.sandbox("x").execution("1")) {
        seen.push(output.type === "gap" ? `[${output.lost}]` : output.text);
      }
      assert.equal(seen.join(""), "abcd[6]e");
    },
  ),
);

test(
  "a stream that ends at once again and again is given up",
  withServer(
    (request, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).end(),
    async (isola) => {
      await assert.rejects(isola.sandbox("x").execution("1").read(), { code: "SERVER_UNREACHABLE" });
    },
  ),
);
