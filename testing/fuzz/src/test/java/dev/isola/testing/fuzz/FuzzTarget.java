package dev.isola.testing.fuzz;

import dev.isola.codec.JsonFuzz;
import dev.isola.codec.TarFuzz;
import dev.isola.compat.e2b.envd.EnvdFuzz;
import dev.isola.compat.e2b.envd.MultipartFuzz;
import dev.isola.egress.http.ClientHelloFuzz;
import dev.isola.egress.http.Http1RequestFuzz;
import dev.isola.egress.http.Http1ResponseFuzz;
import dev.isola.egress.http.Http2RequestFuzz;
import dev.isola.egress.http.Http2ResponseFuzz;
import dev.isola.host.image.OciImageFuzz;
import dev.isola.link.AgentFrameFuzz;
import dev.isola.link.AgentReplyFuzz;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The code that hostile bytes reach. Each target is a class that Jazzer can run by itself. */
enum FuzzTarget {
  AGENT_FRAME(AgentFrameFuzz.class, AgentFrameFuzz::fuzzerTestOneInput),
  AGENT_REPLY(AgentReplyFuzz.class, AgentReplyFuzz::fuzzerTestOneInput),
  CLIENT_HELLO(ClientHelloFuzz.class, ClientHelloFuzz::fuzzerTestOneInput),
  ENVD(EnvdFuzz.class, EnvdFuzz::fuzzerTestOneInput),
  HTTP1_REQUEST(Http1RequestFuzz.class, Http1RequestFuzz::fuzzerTestOneInput),
  HTTP1_RESPONSE(Http1ResponseFuzz.class, Http1ResponseFuzz::fuzzerTestOneInput),
  HTTP2_REQUEST(Http2RequestFuzz.class, Http2RequestFuzz::fuzzerTestOneInput),
  HTTP2_RESPONSE(Http2ResponseFuzz.class, Http2ResponseFuzz::fuzzerTestOneInput),
  JSON(JsonFuzz.class, JsonFuzz::fuzzerTestOneInput),
  MULTIPART(MultipartFuzz.class, MultipartFuzz::fuzzerTestOneInput),
  OCI_IMAGE(OciImageFuzz.class, OciImageFuzz::fuzzerTestOneInput),
  TAR(TarFuzz.class, TarFuzz::fuzzerTestOneInput);

  /** Runs the code on one input, and throws if something does not hold. */
  interface Runner {
    void run(byte[] input) throws Exception;
  }

  private final Class<?> type;

  @SuppressWarnings("ImmutableEnumChecker") // a method without state
  private final Runner runner;

  FuzzTarget(Class<?> type, Runner runner) {
    this.type = type;
    this.runner = runner;
  }

  /** Returns the target whose corpus has this name. */
  static FuzzTarget named(String corpus) {
    return valueOf(corpus.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  Class<?> type() {
    return type;
  }

  void run(byte[] input) throws Exception {
    runner.run(input);
  }

  /** Returns the folder of the inputs that are kept, as text and bytes of the repository. */
  Path corpus() {
    String folder = name().toLowerCase(Locale.ROOT).replace('_', '-');
    return Path.of(System.getProperty("basedir", "")).resolve("src/test/corpus").resolve(folder);
  }

  List<Path> inputs() {
    try (Stream<Path> files = Files.list(corpus())) {
      return files.sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
