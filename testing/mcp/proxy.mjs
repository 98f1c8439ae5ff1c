// Lets a client that has no key use Isola by HTTP:
//   proxy.mjs http PORT                passes requests on to ISOLA_URL, with the key
//   proxy.mjs stdio PORT COMMAND...    passes messages on to the standard input of a command
import { spawn } from "node:child_process";
import http from "node:http";
import readline from "node:readline";

const [kind, port, ...command] = process.argv.slice(2);
const own = ["localhost:" + port, "127.0.0.1:" + port];

/** Keeps a foreign Host, which the server must refuse. */
function pass(request, response) {
  const target = new URL(process.env.ISOLA_URL);
  const headers = { ...request.headers, authorization: "Bearer " + process.env.ISOLA_API_KEY };
  if (own.includes(request.headers.host)) {
    headers.host = target.host;
  }
  const options = { host: target.hostname, port: target.port, path: request.url, method: request.method, headers };
  const forwarded = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  forwarded.on("error", () => response.destroy());
  response.on("close", () => forwarded.destroy());
  request.pipe(forwarded);
}

/** Each client has a process of its own, which its initialize message starts. */
function bridge() {
  const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  readline.createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(line);
    waiting.delete(message.id);
  });
  return (message, line, response) => {
    if (message.id === undefined) {
      response.writeHead(202).end();
    } else {
      waiting.set(message.id, (answer) => {
        response.writeHead(200, { "Content-Type": "application/json", "Mcp-Session-Id": "1" }).end(answer);
      });
    }
    child.stdin.write(line + "\n");
  };
}

let current;
function serve(request, response) {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const message = JSON.parse(body);
    if (message.method === "initialize") {
      current = bridge();
    }
    current(message, JSON.stringify(message), response);
  });
}

http.createServer(kind === "http" ? pass : serve).listen(Number(port), "127.0.0.1");
