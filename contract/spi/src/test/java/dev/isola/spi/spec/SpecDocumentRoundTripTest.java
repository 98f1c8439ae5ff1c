package dev.isola.spi.spec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.Bytes;
import dev.isola.spi.SandboxId;
import dev.isola.spi.exec.Command;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whatever a spec says, its document says too. */
class SpecDocumentRoundTripTest {

  @Property(tries = 500)
  void aSpecIsReadBackAsItWasWritten(@ForAll("specs") SandboxSpec spec) {
    assertThat(SpecDocument.fromMap(SpecDocument.toMap(spec), SpecDocumentRoundTripTest::noId))
        .isEqualTo(spec);
  }

  @Property(tries = 300)
  void writingIsAFixedPoint(@ForAll("specs") SandboxSpec spec) {
    Map<String, Object> document = SpecDocument.toMap(spec);

    assertThat(SpecDocument.toMap(SpecDocument.fromMap(document, SpecDocumentRoundTripTest::noId)))
        .isEqualTo(document);
  }

  private static SandboxId noId() {
    throw new AssertionError("the document has an id");
  }

  @Provide
  Arbitrary<SandboxSpec> specs() {
    return Combinators.combine(basics(), places(), times(), limits(), networks())
        .as(
            (basics, places, times, limits, network) -> {
              SandboxSpec.Builder spec = SandboxSpec.builder(basics.id());
              basics.image().ifPresent(spec::image);
              basics.user().ifPresent(spec::user);
              spec.env(basics.env());
              basics.tags().forEach(spec::tag);
              basics.init().ifPresent(spec::init);
              places.cwd().ifPresent(spec::cwd);
              places.workspacePath().ifPresent(path -> spec.workspacePath(Path.of(path)));
              spec.workspaceMount(places.mount());
              places.volumes().forEach(spec::volume);
              places.seeds().forEach((path, content) -> spec.seedFile(path, Bytes.of(content)));
              spec.startupTimeout(times.startup());
              times.ttl().ifPresent(spec::ttl);
              times.linger().ifPresent(spec::linger);
              return spec.limits(limits)
                  .network(network)
                  .containerType(basics.type())
                  .gpus(basics.gpus())
                  .build();
            })
        .withoutEdgeCases(); // there are more combinations of them than tries
  }

  private record Basics(
      SandboxId id,
      Optional<String> image,
      Optional<String> user,
      Map<String, String> env,
      Map<String, String> tags,
      Optional<Command> init,
      ContainerType type,
      int gpus) {}

  private record Places(
      Optional<String> cwd,
      Optional<String> workspacePath,
      String mount,
      List<Volume> volumes,
      Map<String, byte[]> seeds) {}

  private record Times(Duration startup, Optional<Duration> ttl, Optional<Duration> linger) {}

  private static Arbitrary<Basics> basics() {
    return Combinators.combine(
            Arbitraries.strings()
                .withChars("abcxyz019")
                .ofMinLength(1)
                .ofMaxLength(32)
                .map(SandboxId::new),
            word().optional(),
            word().optional(),
            envs(),
            Arbitraries.maps(word(), text()).ofMaxSize(4),
            commands().optional(),
            Arbitraries.of(ContainerType.class),
            Arbitraries.integers().between(0, 64))
        .as(Basics::new);
  }

  private static Arbitrary<Places> places() {
    return Combinators.combine(
            folder().optional(),
            folder().optional(),
            folder(),
            volumes(),
            Arbitraries.maps(word(), Arbitraries.bytes().array(byte[].class).ofMaxSize(40))
                .ofMaxSize(4))
        .as(Places::new);
  }

  private static Arbitrary<Times> times() {
    return Combinators.combine(duration(1), duration(1).optional(), duration(0).optional())
        .as(Times::new);
  }

  private static Arbitrary<Command> commands() {
    return Combinators.combine(
            Arbitraries.of(Command.Mode.class),
            word(),
            text().list().ofMaxSize(3),
            envs(),
            text().optional(),
            text().optional(),
            Combinators.combine(Arbitraries.of(true, false), duration(1).optional())
                .as((stdin, timeout) -> Map.entry(stdin, timeout)),
            text().optional())
        .as(
            (mode, program, args, env, cwd, user, rest, tag) ->
                new Command(
                    mode, program, args, env, cwd, user, rest.getKey(), rest.getValue(), tag));
  }

  private static Arbitrary<List<Volume>> volumes() {
    Arbitrary<Volume> volume =
        Combinators.combine(
                Arbitraries.of(Volume.Type.class), folder(), Arbitraries.of(true, false))
            .as(
                (type, destination, readOnly) ->
                    new Volume(
                        type,
                        switch (type) {
                          case BIND -> "/src" + destination;
                          case VOLUME -> "data.1";
                          case TMPFS -> "";
                        },
                        destination,
                        readOnly));
    return volume.list().uniqueElements(Volume::destination).ofMaxSize(4);
  }

  private static Arbitrary<ResourceLimits> limits() {
    return Combinators.combine(
            Arbitraries.doubles().between(0.001, 1024).ofScale(3),
            Arbitraries.longs().between(4, 64L << 20),
            Arbitraries.longs().between(1, 1L << 30),
            Arbitraries.integers().between(16, 1 << 20),
            Arbitraries.integers().between(1, 1 << 22),
            Arbitraries.integers().between(1, 1 << 20),
            duration(1).optional())
        .as(ResourceLimits::new);
  }

  private static Arbitrary<Network> networks() {
    Arbitrary<List<String>> domains =
        Arbitraries.of("pypi.org", "*.github.com", "localhost", "1.2.3.4").list().ofMaxSize(3);
    return Combinators.combine(
            Arbitraries.of(NetworkMode.class).optional(),
            domains,
            domains,
            Arbitraries.integers().between(1, 65_535).list().ofMaxSize(3))
        .as(
            (mode, allow, block, ports) ->
                new Network(
                    mode,
                    mode.equals(Optional.of(NetworkMode.NONE)) ? List.of() : allow,
                    block,
                    ports));
  }

  private static Arbitrary<Map<String, String>> envs() {
    return Arbitraries.maps(
            Arbitraries.strings().withChars("ABC_xyz").ofMinLength(1).ofMaxLength(8), text())
        .ofMaxSize(4);
  }

  private static Arbitrary<Duration> duration(long leastNanos) {
    return Arbitraries.longs()
        .between(leastNanos, Duration.ofDays(3650).toNanos())
        .map(Duration::ofNanos);
  }

  private static Arbitrary<String> folder() {
    return Arbitraries.strings()
        .withChars("abc.-é ")
        .ofMinLength(1)
        .ofMaxLength(6)
        .map(name -> "/x" + name);
  }

  private static Arbitrary<String> word() {
    return text().map(text -> "w" + text);
  }

  private static Arbitrary<String> text() {
    return Arbitraries.strings().withChars("ab é€😀'\"\\\n=$").ofMaxLength(8);
  }
}
