package dev.isola.server;

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

  final String id;
  String action = NONE;
  String route = NONE;
  String key = NONE;
  Optional<String> code = Optional.empty();
  Optional<String> sandbox = Optional.empty();
  ApiDialect dialect = new NativeDialect();

  /** Whether the response contains a token. */
  boolean disclosesToken;

  RequestLogEntry(String id) {
    this.id = id;
  }

  static List<String> values(Request request, String header) {
    return request.getHeaders().getFields(header).stream()
        .map(HttpField::getValue)
        .map(value -> value == null ? "" : value)
        .toList();
  }
}
