package dev.isola.server.api;

import dev.isola.codec.json.Json;
import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.server.auth.Confidential;
import dev.isola.server.error.Problem;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.util.Map;

/** Adds to the error of a create request what was requested, without confidential values. */
final class CreateFailure {
  /** A larger spec is left out of the error. */
  private static final int MAX_SPEC = 16 << 10;

  private CreateFailure() {}

  static SandboxException of(CreateRequest request, SandboxException e) {
    Fault fault = e.fault();
    SandboxSpec spec = request.spec();
    if (fault.code() == ErrorCode.INIT_FAILED
        && spec.init().isPresent()
        && !fault.context().containsKey(Problem.COMMAND)) {
      fault = fault.with(Problem.COMMAND, CommandBody.shown(spec.init().get()));
    }
    String masked = Json.text(masked(request));
    if (masked.length() <= MAX_SPEC) {
      fault = fault.with(Problem.SPEC, masked);
    }
    return fault.exception(e);
  }

  private static Map<String, Object> masked(CreateRequest request) {
    Map<String, Object> json = SpecDocument.forResponse(request, value -> Confidential.MASK);
    if (!request.spec().secretEnv().isEmpty()) {
      json.put("secretEnv", request.spec().secretEnv().keySet().stream().sorted().toList());
    }
    return json;
  }
}
