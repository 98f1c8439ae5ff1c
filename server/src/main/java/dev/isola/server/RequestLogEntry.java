package dev.isola.server;

import dev.isola.server.peer.PeerRequest;
import dev.isola.server.route.ApiDialect;
import dev.isola.server.route.NativeDialect;
import dev.isola.spi.SandboxId;
import java.util.List;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.server.Request;

/** Collects what the access log and the listeners report about a request. */
final class RequestLogEntry {
  /** Logged for an unknown value. */
  static final String NONE = "-";

  String id;

  /** The address of the client, of which a server that passed the request on may say more. */
  final String client;

  String action = NONE;
  String route = NONE;
  String key = NONE;
  Optional<String> code = Optional.empty();
  Optional<SandboxId> sandbox = Optional.empty();
  ApiDialect dialect = new NativeDialect();

  /** The path that was routed. */
  String path = "";

  /** What another server states about the request, if one passed it on. */
  Optional<PeerRequest> statement = Optional.empty();

  /** Whether the request was passed on to another server, which reports it to its listeners. */
  boolean passedOn;

  /** Whether the credential is invalid and the audit log only counts the request. */
  boolean unlisted;

  /** Whether the response contains a token. */
  boolean disclosesToken;

  RequestLogEntry(String id, String client) {
    this.id = id;
    this.client = client;
  }

  /** Returns the address of the client. */
  String remote() {
    return statement.map(PeerRequest::remote).orElse(client);
  }

  /** Returns whether the client uses TLS. */
  boolean isSecure(Request request) {
    return statement.map(PeerRequest::secure).orElseGet(request::isSecure);
  }

  static List<String> values(Request request, String header) {
    return request.getHeaders().getFields(header).stream()
        .map(HttpField::getValue)
        .map(value -> value == null ? "" : value)
        .toList();
  }
}
