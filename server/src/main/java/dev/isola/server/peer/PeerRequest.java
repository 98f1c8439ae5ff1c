package dev.isola.server.peer;

import dev.isola.server.auth.ApiKey;
import java.time.Instant;
import java.util.Optional;

/**
 * What the server that received a request from a client states about it to the owner of the
 * sandbox. The owner sees no credential of the client.
 *
 * @param kind what the owner is asked for
 * @param from the name of the server that received the request
 * @param to the name of the only server that accepts the statement
 * @param nonce different for each request, so that the owner accepts none twice
 * @param target the path and the query
 * @param requestId the id of the request in the logs of both servers
 * @param remote the address of the client
 * @param secure whether the client uses TLS
 * @param key the key of the client; empty if the route needs none or checks credentials itself
 */
public record PeerRequest(
    Kind kind,
    String from,
    String to,
    Instant issuedAt,
    String nonce,
    String method,
    String target,
    String requestId,
    String remote,
    boolean secure,
    Optional<ApiKey> key) {

  /** What the owner is asked for. A statement of one kind is not valid for the other. */
  public enum Kind {
    /** A request of a client. */
    REQUEST,
    /** A connection to a port of a sandbox, for a request that this server has authorized. */
    PORT
  }
}
