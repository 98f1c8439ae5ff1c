package dev.isola.provider.http;

import dev.isola.provider.http.client.BackendCall;
import dev.isola.provider.http.client.BackendCall.Effect;
import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Command;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A command to run by one request.
 *
 * @param timeout after which the backend ends the command
 */
record ExecRequest(Backend backend, SandboxId id, Command command, String cwd, Duration timeout) {
  /** The bytes of each output that are returned; the rest is dropped and counted. */
  static final int OUTPUT_LIMIT = 16 << 20;

  private static final int DOCUMENT = 1 << 20;

  ExecResponse send(byte[] input) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("argv", command.toArgv());
    document.put("env", command.env());
    document.put("cwd", cwd);
    command.user().ifPresent(user -> document.put("user", user));
    document.put("input", Base64.getEncoder().encodeToString(input));
    document.put("timeoutMs", Math.max(1, timeout.toMillis()));
    document.put("outputLimit", OUTPUT_LIMIT);
    BackendCall call =
        BackendCall.of("exec", "POST", backend.path(id) + "/exec", Effect.ONCE)
            .sending(document)
            .expecting(DOCUMENT + 3 * OUTPUT_LIMIT, 200);
    return ExecResponse.parse(
        backend.client().document(call, timeout.plus(backend.timeout())), timeout, OUTPUT_LIMIT);
  }
}
