package dev.isola.server;

import dev.isola.server.auth.Face;
import dev.isola.server.e2b.model.E2bError;
import dev.isola.server.error.Problem;
import dev.isola.spi.error.Fault;
import java.util.Map;
import java.util.Optional;

/**
 * An error in the words of whom it is told to.
 *
 * @param code its stable name, for logs
 */
record Voice(int status, String mediaType, Map<String, Object> body, String code) {

  static Voice of(Face face, Fault fault, String requestId, Optional<String> sandbox) {
    String code = fault.code().name();
    return switch (face) {
      case NATIVE -> {
        Problem problem = Problem.of(fault, requestId);
        yield new Voice(problem.status(), Problem.MEDIA_TYPE, problem.body(), code);
      }
      case E2B -> told(E2bError.control(fault), code);
      case ENVD -> told(E2bError.envd(fault, sandbox.orElse("")), code);
      case CONNECT -> told(E2bError.connect(fault, sandbox.orElse("")), code);
    };
  }

  private static Voice told(E2bError error, String code) {
    return new Voice(error.status(), "application/json", error.body(), code);
  }
}
