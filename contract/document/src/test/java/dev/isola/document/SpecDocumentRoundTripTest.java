package dev.isola.document;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ExpiryAction;
import dev.isola.document.request.Lifecycle;
import dev.isola.document.request.McpServer;
import dev.isola.document.request.Placement;
import dev.isola.document.request.RestartPolicy;
import dev.isola.document.request.Workload;
import dev.isola.spi.Bytes;
import dev.isola.spi.Generator;
import dev.isola.spi.Isolation;
import dev.isola.spi.LimitKind;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.exec.Command;
import dev.isola.spi.provider.Requirements;
import dev.isola.spi.spec.Network;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.ResourceLimits;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.VolumeMount;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Writing a request as a document and reading it back gives an equal request. */
class SpecDocumentRoundTripTest {

  static LongStream seeds() {
    return Generator.seeds(400);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void aSpecIsReadBackAsItWasWritten(long seed) {
    CreateRequest request = new Specs(seed).request();
    assertThat(SpecDocument.fromMap(SpecDocument.toMap(request), SpecDocumentRoundTripTest::noId))
        .isEqualTo(request);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void writingTwiceGivesTheSameDocument(long seed) {
    Map<String, Object> document = SpecDocument.toMap(new Specs(seed).request());
    assertThat(SpecDocument.toMap(SpecDocument.fromMap(document, SpecDocumentRoundTripTest::noId)))
        .isEqualTo(document);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void builderOfASpecBuildsAnEqualSpec(long seed) {
    SandboxSpec spec = new Specs(seed).spec();
    assertThat(spec.toBuilder().build()).isEqualTo(spec);
    assertThat(spec.toBuilder().clearImage().build().image()).isEmpty();
  }

  private static SandboxId noId() {
    throw new AssertionError("the document has an id");
  }

  /** Generates arbitrary valid specs. */
  private static final class Specs {
    private final Generator any;

    Specs(long seed) {
      any = new Generator(seed);
    }

    SandboxSpec spec() {
      SandboxSpec.Builder spec = SandboxSpec.builder(new SandboxId(any.text("abcxyz019", 1, 32)));
      any.optional(this::word).ifPresent(spec::image);
      any.optional(this::word).ifPresent(spec::user);
      spec.env(env());
      any.optional(this::command).ifPresent(spec::init);
      any.optional(this::folder).ifPresent(spec::cwd);
      any.optional(this::folder).ifPresent(path -> spec.workspacePath(Path.of(path)));
      spec.workspaceMount(folder());
      volumes().forEach(spec::volume);
      any.map(4, this::word, () -> any.bytes(40))
          .forEach((path, content) -> spec.seedFile(path, Bytes.of(content)));
      spec.startupTimeout(duration(1));
      any.optional(() -> duration(0)).ifPresent(spec::linger);
      return spec.limits(limits()).network(network()).gpus(any.between(0, 64)).build();
    }

    CreateRequest request() {
      CreateRequest request = plainRequest();
      return request.placement().workload() == Workload.MCP_SERVER && any.flag()
          ? request.withMcpServer(server())
          : request;
    }

    private McpServer server() {
      return new McpServer(
          new Command(
              Command.Mode.ARGV,
              "server",
              any.list(0, 3, this::text),
              env(),
              any.optional(this::folder),
              any.optional(this::text),
              true,
              Optional.empty(),
              Optional.empty()),
          any.oneOf(RestartPolicy.values()));
    }

    private CreateRequest plainRequest() {
      return CreateRequest.builder(spec())
          .lifecycle(
              new Lifecycle(
                  any.optional(() -> duration(1)),
                  Optional.empty(),
                  any.oneOf(ExpiryAction.values()),
                  any.oneOf(ExpiryAction.values()),
                  any.flag()))
          .placement(
              Placement.DEFAULT
                  .withWorkload(any.oneOf(Workload.values()))
                  .withRequirements(require()))
          .tags(any.map(4, this::word, this::text))
          .build();
    }

    private Requirements require() {
      return new Requirements(
          any.oneOf(Isolation.values()),
          Set.copyOf(
              any.list(
                  0, 3, () -> Capability.all().get(any.between(0, Capability.all().size() - 1)))),
          Set.copyOf(any.list(0, 3, () -> any.oneOf(LimitKind.values()))));
    }

    private Command command() {
      return new Command(
          any.oneOf(Command.Mode.values()),
          word(),
          any.list(0, 3, this::text),
          env(),
          any.optional(this::text),
          any.optional(this::text),
          any.flag(),
          any.optional(() -> duration(1)),
          any.optional(this::text));
    }

    private Iterable<VolumeMount> volumes() {
      Map<String, VolumeMount> byDestination = new TreeMap<>();
      for (String destination : any.list(0, 4, this::folder)) {
        VolumeMount.Type type = any.oneOf(VolumeMount.Type.values());
        String source =
            switch (type) {
              case BIND -> "/src" + destination;
              case VOLUME -> "data.1";
              case TMPFS -> "";
            };
        byDestination.put(destination, new VolumeMount(type, source, destination, any.flag()));
      }
      return byDestination.values();
    }

    private ResourceLimits limits() {
      return new ResourceLimits(
          any.fraction(0.001, 1024),
          any.between(4, 64L << 20),
          any.between(1, 1L << 30),
          any.between(16, 1 << 20),
          any.between(1, 1 << 22),
          any.between(1, 1 << 22),
          any.between(1, 1 << 20),
          any.optional(() -> duration(1)));
    }

    private Network network() {
      Optional<NetworkMode> mode = any.optional(() -> any.oneOf(NetworkMode.values()));
      List<String> allowed = any.list(0, 3, this::domain);
      return new Network(
          mode,
          mode.equals(Optional.of(NetworkMode.NONE)) ? List.of() : allowed,
          any.list(0, 3, this::domain),
          any.list(0, 3, () -> any.between(1, 65_535)));
    }

    private String domain() {
      return any.oneOf("pypi.org", "*.github.com", "localhost", "1.2.3.4");
    }

    private Map<String, String> env() {
      return any.map(4, () -> any.text("ABC_xyz", 1, 8), this::text);
    }

    private Duration duration(long leastNanos) {
      return Duration.ofNanos(any.between(leastNanos, Duration.ofDays(3650).toNanos()));
    }

    private String folder() {
      return "/x" + any.text("abc.-é ", 1, 6);
    }

    private String word() {
      return "w" + text();
    }

    private String text() {
      return any.text("ab é€😀'\"\\\n=$", 0, 8);
    }
  }
}
