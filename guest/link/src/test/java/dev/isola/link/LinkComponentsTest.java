package dev.isola.link;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.error.InvalidRequest;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Fields, boot record, embedded program, socket paths, and the handshake over a pipe. */
@Timeout(20)
class LinkComponentsTest {

  @Test
  void fieldsRoundTrip() {
    byte[] payload =
        new WireFieldsBuilder()
            .add(FieldTag.OFFSET, -2)
            .add(FieldTag.ARG, List.of("a", "", "ü"))
            .flag(FieldTag.LOSSY, false)
            .add(FieldTag.TAG, Optional.empty())
            .add(FieldTag.NAME, "x".repeat(1000))
            .payload();
    WireFields fields = WireFields.parse(payload);
    assertThat(fields.number(FieldTag.OFFSET)).isEqualTo(-2);
    assertThat(fields.texts(FieldTag.ARG)).containsExactly("a", "", "ü");
    assertThat(fields.has(FieldTag.LOSSY)).isFalse();
    assertThat(fields.optionalText(FieldTag.TAG)).isEmpty();
    assertThat(fields.text(FieldTag.NAME)).hasSize(1000);
    assertThatThrownBy(() -> fields.count(FieldTag.OFFSET)).isInstanceOf(ProtocolViolation.class);
    assertThatThrownBy(() -> fields.number(FieldTag.NAME)).isInstanceOf(ProtocolViolation.class);
    assertThatThrownBy(() -> fields.number(FieldTag.PID)).isInstanceOf(ProtocolViolation.class);
    assertThatThrownBy(() -> WireFields.parse(new byte[4])).isInstanceOf(ProtocolViolation.class);
  }

  @Test
  void bootRecordEncodesFieldsAndHidesItsSecret() {
    Secret secret = BootRecord.newSecret();
    BootRecord record =
        BootRecord.builder(new SandboxId("abc"), secret)
            .socket(Path.of("/run/s"))
            .confine(Path.of("/data"), "/workspace")
            .env(Map.of("A", "B"))
            .user(Optional.of("me"))
            .cwd("/w")
            .deadline(Duration.ofSeconds(2))
            .linger(Duration.ZERO)
            .namespaces(BootRecord.Namespaces.IF_POSSIBLE)
            .bind(Path.of("/from"), "/to", true)
            .lock(Path.of("/lock"))
            .fileDescriptors(100)
            .build();
    byte[] bytes = record.encode();
    assertThat(Wire.getInt(bytes, 0)).isEqualTo(bytes.length - 4);
    WireFields fields = WireFields.parse(bytes, 4);
    assertThat(fields.bytes(FieldTag.SECRET)).isEqualTo(secret.reveal());
    assertThat(fields.text(FieldTag.ROOT)).isEqualTo("/data");
    assertThat(fields.number(FieldTag.LINGER_MS)).isZero();
    assertThat(fields.number(FieldTag.TIMEOUT_MS)).isEqualTo(2000);
    assertThat(fields.number(FieldTag.NAMESPACES)).isEqualTo(1);
    assertThat(new String(fields.bytes(FieldTag.BIND), UTF_8))
        .isEqualTo("\u0001\0\0\0\u0005/from/to");
    assertThat(fields.bytes(FieldTag.RLIMIT)).hasSize(17).startsWith(7, 0, 0, 0, 0, 0, 0, 0, 100);
    assertThat(record.toString()).contains("***");
    assertThatThrownBy(() -> BootRecord.builder(new SandboxId("abc"), Secret.of("short")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void environmentOfTheSpecTakesPrecedenceInABootRecord() {
    SandboxSpec spec =
        SandboxSpec.builder(new SandboxId("abc"))
            .env("LANG", "de")
            .deadline(Duration.ofSeconds(2))
            .build();
    WireFields fields =
        WireFields.parse(
            BootRecord.forSpec(
                    spec, "one", BootRecord.newSecret(), Map.of("LANG", "image", "A", "B"))
                .build()
                .encode(),
            4);
    assertThat(fields.texts(FieldTag.ENV))
        .containsExactly("LANG=de", "A=B", "ISOLA_SANDBOX=abc", "ISOLA_INSTANCE=one");
    assertThat(fields.text(FieldTag.CWD)).isEqualTo(spec.workingFolder());
    assertThat(fields.number(FieldTag.TIMEOUT_MS)).isEqualTo(2000);
    assertThat(fields.has(FieldTag.LINGER_MS)).isFalse();
  }

  @Test
  void bootRecordOfMachineHasItsClockNetworkAndSeed() {
    byte[] seed = new byte[32];
    seed[31] = 7;
    BootRecord.Builder builder =
        BootRecord.builder(new SandboxId("abc"), BootRecord.newSecret())
            .hostName("box")
            .time(Instant.ofEpochSecond(1_800_000_000L, 5))
            .seed(seed)
            .network("10.0.2.15/24 10.0.2.2")
            .resolvConf("nameserver 10.0.2.3\n")
            .threadLimit(300)
            .tmpfs("/tmp", 4096)
            .tmpfs("/a b", 1);
    WireFields fields = WireFields.parse(builder.build().encode(), 4);
    assertThat(fields.text(FieldTag.HOST_NAME)).isEqualTo("box");
    assertThat(fields.number(FieldTag.TIME_NS)).isEqualTo(1_800_000_000_000_000_005L);
    assertThat(fields.bytes(FieldTag.NONCE)).isEqualTo(seed);
    assertThat(fields.text(FieldTag.NETWORK)).isEqualTo("10.0.2.15/24 10.0.2.2");
    assertThat(fields.text(FieldTag.RESOLV_CONF)).isEqualTo("nameserver 10.0.2.3\n");
    assertThat(fields.number(FieldTag.THREAD_LIMIT)).isEqualTo(300);
    assertThat(fields.texts(FieldTag.TMPFS)).containsExactly("/tmp 4096", "/a b 1");
    assertThatThrownBy(() -> builder.seed(new byte[31]))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void binaryIsInstalledOnceAndRepaired(@TempDir Path folder) throws IOException {
    Path first = AgentBinary.install(folder);
    assertThat(first).isExecutable();
    assertThat(first.getFileName().toString()).matches("isola-agent-[0-9a-f]{16}");
    Object key =
        Files.readAttributes(first, java.nio.file.attribute.BasicFileAttributes.class).fileKey();
    assertThat(AgentBinary.install(folder)).isEqualTo(first);
    assertThat(
            Files.readAttributes(first, java.nio.file.attribute.BasicFileAttributes.class)
                .fileKey())
        .isEqualTo(key);
    byte[] good = Files.readAllBytes(first);
    Files.write(first, new byte[good.length]);
    assertThat(Files.readAllBytes(AgentBinary.install(folder))).isEqualTo(good);
    try (var left = Files.list(folder)) {
      assertThat(left).hasSize(1);
    }
  }

  @Test
  void tooLongSocketPathIsRejected(@TempDir Path folder) {
    Path tooLong = Path.of("/" + "x".repeat(107));
    assertThatThrownBy(() -> new UnixSocketConnector(tooLong))
        .isInstanceOf(InvalidRequest.class)
        .hasMessageContaining("108 bytes");
    AgentConnector absent = new UnixSocketConnector(folder.resolve("none"));
    assertThatThrownBy(() -> absent.open(Duration.ofSeconds(1)))
        .isInstanceOf(AgentAbsentException.class);
  }

  @Test
  void handshakeSkipsBytesOfAnEarlierConnection() throws Exception {
    Secret secret = BootRecord.newSecret();
    PipedInputStream toAgent = new PipedInputStream(1 << 20);
    PipedInputStream toServer = new PipedInputStream(1 << 20);
    PipedOutputStream fromServer = new PipedOutputStream(toAgent);
    PipedOutputStream fromAgent = new PipedOutputStream(toServer);
    FakePeer peer = new FakePeer(new StreamPair(toAgent, fromAgent), secret);
    // Leftovers: half a frame, a stale challenge with another nonce, more noise.
    peer.raw(new byte[] {0, 0, 0, 50, 18, 0, 0, 0, 1, 1, 2, 3});
    peer.nonce[0] = 99;
    peer.challenge();
    peer.raw("noise that is no frame".getBytes(UTF_8));
    peer.nonce[0] = 7;
    peer.challenge();
    peer.challenge();
    Thread agent =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    peer.welcome(peer.read());
                    peer.answerPings();
                  } catch (IOException e) {
                    // Closed by the test.
                  }
                });
    AgentChannel channel =
        new StreamAgentChannel(
            toServer,
            fromServer,
            () -> {
              try {
                fromAgent.close();
                toAgent.close();
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
    AgentConnection connection =
        AgentConnection.open(FakeAgent.ID, channel, secret, LinkTimeouts.DEFAULT);
    assertThat(connection.ping(Duration.ofSeconds(5))).isPositive();
    connection.close();
    for (Thread thread : connection.threads()) {
      thread.join();
    }
    agent.join();
  }

  /** Two piped streams as one channel. */
  private record StreamPair(PipedInputStream in, PipedOutputStream out) implements ByteChannel {
    @Override
    public int read(ByteBuffer target) throws IOException {
      byte[] bytes = new byte[target.remaining()];
      int count = in.read(bytes);
      if (count > 0) {
        target.put(bytes, 0, count);
      }
      return count;
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
      byte[] bytes = new byte[source.remaining()];
      source.get(bytes);
      out.write(bytes);
      out.flush();
      return bytes.length;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() throws IOException {
      in.close();
      out.close();
    }
  }
}
