package dev.isola.app.serve;

import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.Reason;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.Keys;
import dev.isola.server.Options;
import dev.isola.server.Tls;
import dev.isola.server.Witness;
import dev.isola.server.audit.AuditLog;
import dev.isola.server.context.Serving;
import dev.isola.server.limit.Limits;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** What config says of the server besides its address. */
final class ServeOptions {
  private static final String AUDIT = "audit.jsonl";

  private ServeOptions() {}

  /**
   * @param ends learns what is to be closed
   */
  static Options of(
      Config config,
      DataFolder data,
      Serving serving,
      InstantSource clock,
      ServeLog log,
      Deque<Runnable> ends) {
    List<Witness> witnesses = new ArrayList<>();
    witnesses.add(visited -> count(serving, visited));
    if (config.get(Keys.SERVER_AUDIT)) {
      AuditLog audit = audit(config, data, clock, log);
      ends.push(audit::close);
      witnesses.add(audit);
    }
    return new Options(
        Tls.of(config.get(Keys.SERVER_TLS_CERT), config.get(Keys.SERVER_TLS_KEY))
            .map(tls -> tls.orPlain(config.get(Keys.SERVER_TLS_OR_PLAIN))),
        new Limits(
            config.get(Keys.SERVER_RATE),
            config.get(Keys.SERVER_BURST),
            config.get(Keys.SERVER_FAILURES),
            config.get(Keys.SERVER_REQUESTS),
            config.get(Keys.SERVER_STREAMS),
            config.get(Keys.SERVER_PREVIEWS),
            config.get(Keys.SERVER_PREVIEWS_PER_SANDBOX)),
        witnesses,
        () -> serving.current().map(parts -> parts.engine().traces()));
  }

  private static void count(Serving serving, Witness.Visited visited) {
    serving
        .current()
        .ifPresent(
            parts ->
                parts
                    .engine()
                    .metrics()
                    .recorder()
                    .answered(
                        visited.method(), visited.route(), visited.status(), visited.nanos()));
  }

  private static AuditLog audit(Config config, DataFolder data, InstantSource clock, ServeLog log) {
    Path file = data.path().resolve(AUDIT);
    try {
      return AuditLog.open(
          file,
          config.get(Keys.SERVER_AUDIT_SIZE) << 20,
          config.get(Keys.SERVER_AUDIT_PREVIEWS),
          clock,
          log);
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the audit log cannot be written: " + Reason.of(e),
              "make " + data.path() + " writable, or set server.audit.enabled to false")
          .exception(e);
    }
  }
}
