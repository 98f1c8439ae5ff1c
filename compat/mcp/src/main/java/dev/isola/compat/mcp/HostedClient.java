package dev.isola.compat.mcp;

import java.util.Map;

/**
 * A client of a hosted server.
 *
 * @param session identifies the client; a request without a session has one of its own
 * @param events whether the response of the request can be a stream of events
 * @param logs whether the client receives {@code notifications/message}
 * @param sampling whether the client answers {@code sampling/createMessage}
 * @param elicitation whether the client answers {@code elicitation/create}
 */
record HostedClient(
    String session, boolean events, boolean logs, boolean sampling, boolean elicitation) {

  /** Returns whether the client answers a request of the server. */
  boolean answers(String method) {
    return switch (method) {
      case "sampling/createMessage" -> sampling;
      case "elicitation/create" -> elicitation;
      default -> false;
    };
  }

  /** Returns the letters in the id of a session for what its client answers. */
  static String letters(Map<String, Object> capabilities) {
    return (capabilities.containsKey("sampling") ? "s" : "")
        + (capabilities.containsKey("elicitation") ? "e" : "")
        + "n";
  }
}
