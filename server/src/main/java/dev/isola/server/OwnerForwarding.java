package dev.isola.server;

import dev.isola.server.peer.PeerRequest;
import dev.isola.server.peer.PeerServers;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.eclipse.jetty.server.Request;

/**
 * Passes requests on to the servers that own their sandboxes, and recognizes requests that other
 * servers passed on to this one. Those are never passed on again.
 *
 * @param peers the other servers; empty if this server has its ledger to itself
 */
record OwnerForwarding(Supplier<Optional<PeerServers>> peers) {

  /** Returns whether servers share the ledger. */
  boolean isShared() {
    return peers.get().isPresent();
  }

  /**
   * Returns what another server states about a request; empty for the request of a client.
   *
   * @throws dev.isola.spi.error.Unauthenticated when the statement is not valid
   */
  Optional<PeerRequest> verify(Request request) {
    List<String> statements = RequestLogEntry.values(request, PeerServers.HEADER);
    if (statements.isEmpty()) {
      return Optional.empty();
    }
    Optional<PeerServers> others = peers.get();
    if (others.isEmpty()) {
      return Optional.empty(); // as any header that this server does not know
    }
    if (statements.size() > 1) {
      throw Fault.of(
              ErrorCode.UNAUTHENTICATED,
              "the request has several headers " + PeerServers.HEADER,
              "only servers that share the ledger send this header; do not send it")
          .exception();
    }
    return Optional.of(
        others
            .get()
            .verify(
                statements.getFirst(), request.getMethod(), request.getHttpURI().getPathQuery()));
  }

  /** Returns whether another server owns a sandbox. */
  boolean isElsewhere(JettyExchange exchange, SandboxId sandbox) {
    boolean elsewhere = peers.get().flatMap(one -> one.owner(sandbox)).isPresent();
    if (elsewhere && exchange.logEntry().statement.isPresent()) {
      throw new MisdirectedRequest(sandbox);
    }
    return elsewhere;
  }

  /** Passes a request of whose body nothing was read on to the owner, if that is another server. */
  boolean pass(JettyExchange exchange, SandboxId sandbox) throws IOException {
    if (!isElsewhere(exchange, sandbox)) {
      return false;
    }
    boolean passed = peers.get().orElseThrow().pass(request(exchange), sandbox);
    exchange.logEntry().passedOn |= passed;
    return passed;
  }

  /** Passes a request whose body was read on to the owner, if that is another server. */
  boolean pass(JettyExchange exchange, SandboxId sandbox, byte[] body) throws IOException {
    if (!isElsewhere(exchange, sandbox)) {
      return false;
    }
    boolean passed = peers.get().orElseThrow().pass(request(exchange), sandbox, body);
    exchange.logEntry().passedOn |= passed;
    return passed;
  }

  private static PeerServers.ClientRequest request(JettyExchange exchange) {
    RequestLogEntry logEntry = exchange.logEntry();
    Optional<String> query = Optional.ofNullable(exchange.request().getHttpURI().getQuery());
    List<String> secrets =
        exchange.key().isPresent()
            ? logEntry.dialect.secrets(header -> RequestLogEntry.values(exchange.request(), header))
            : List.of(); // the handler of the owner checks them
    return new PeerServers.ClientRequest(
        exchange,
        logEntry.path + query.map("?"::concat).orElse(""),
        exchange.requestId(),
        exchange.key(),
        secrets);
  }
}
