package dev.isola.server;

import dev.isola.server.peer.PeerRequest;
import dev.isola.server.route.ApiDialect;
import dev.isola.server.route.NativeDialect;
import java.util.List;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.server.Request;

/** Collects what the access log and the listeners report about a request. */
final class RequestLogEntry {
  /** Logged for an unknown value. */
  static final String NONE = "-";

  String id;
  String action = NONE;
  String route = NONE;
  String key = NONE;
  Optional<String> code = Optional.empty();
  Optional<String> sandbox = Optional.empty();
  ApiDialect dialect = new NativeDialect();

  /** The path that was routed. */
  String path = "";

  /** What another server states about the request, if one passed it on. */
  Optional<PeerRequest> statement = Optional.empty();

  /** Whether the request was passed on to another server, which reports it to its listeners. */
  boolean passedOn;

  /** Whether the response contains a token. */
  boolean disclosesToken;

  RequestLogEntry(String id) {
    this.id = id;
  }

  /** Returns the address of the client. */
  String remote(Request request) {
    return statement.map(PeerRequest::remote).orElseGet(() -> Request.getRemoteAddr(request));
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
