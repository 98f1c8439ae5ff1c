package dev.isola.server;

import dev.isola.server.auth.ApiKey;
import dev.isola.server.route.Exchange;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/** An exchange over Jetty. */
record JettyExchange(
    Request request,
    Response response,
    String requestId,
    Optional<ApiKey> key,
    Map<String, String> paths,
    Map<String, List<String>> queries,
    Map<String, Object> body,
    BooleanSupplier end,
    Consumer<SandboxId> subject)
    implements Exchange {

  @Override
  public String path(String name) {
    String value = paths.get(name);
    if (value == null) {
      throw new IllegalStateException("the route has no parameter " + name);
    }
    return value;
  }

  @Override
  public Optional<String> query(String name) {
    return queries(name).stream().findFirst();
  }

  @Override
  public List<String> queries(String name) {
    return queries.getOrDefault(name, List.of());
  }

  @Override
  public Optional<String> header(String name) {
    return Optional.ofNullable(request.getHeaders().get(name));
  }

  @Override
  public InputStream content() {
    return Content.Source.asInputStream(request);
  }

  @Override
  public void json(int status, Map<String, ?> answer) throws IOException {
    whole(response, status, "application/json", JsonText.of(answer));
  }

  @Override
  public void empty() throws IOException {
    response.setStatus(204);
    Content.Sink.write(response, true, ByteBuffer.allocate(0));
  }

  @Override
  public OutputStream begin(int status, String mediaType, Map<String, String> headers) {
    response.setStatus(status);
    response.getHeaders().put("Content-Type", mediaType);
    headers.forEach((name, value) -> response.getHeaders().put(name, value));
    return Content.Sink.asOutputStream(response);
  }

  @Override
  public Watched whileWanted() {
    return Gone.watch(request.getConnectionMetaData().getConnection().getEndPoint(), response);
  }

  @Override
  public void about(SandboxId sandbox) {
    subject.accept(sandbox);
  }

  @Override
  public boolean ending() {
    return end.getAsBoolean();
  }

  static void whole(Response response, int status, String mediaType, byte[] bytes)
      throws IOException {
    response.setStatus(status);
    response.getHeaders().put("Content-Type", mediaType);
    response.getHeaders().put("Content-Length", Integer.toString(bytes.length));
    Content.Sink.write(response, true, ByteBuffer.wrap(bytes));
  }
}
