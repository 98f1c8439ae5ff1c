package dev.isola.link;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InitListenerTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final byte[] LINE = "isola-waiting-1\n".getBytes(US_ASCII);
  private static final byte[] RECORD = {0, 0, 0, 3, 1, 2, 3};

  @TempDir Path folder;

  private Path socket = Path.of("");
  private volatile boolean alive = true;

  @BeforeEach
  void name() {
    socket = folder.resolve("v_1024");
  }

  private InitListener listen() throws IOException {
    return InitListener.bind(socket, path -> {}, () -> alive);
  }

  private SocketChannel dial() throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    channel.connect(UnixDomainSocketAddress.of(socket));
    return channel;
  }

  /** Dials as an init does, and returns the record that it gets. */
  private byte[] init() {
    try (SocketChannel channel = dial()) {
      OutputStream out = Channels.newOutputStream(channel);
      InputStream in = Channels.newInputStream(channel);
      out.write(LINE, 0, 5);
      out.write(LINE, 5, LINE.length - 5);
      return in.readNBytes(RECORD.length);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void initThatDialsGetsItsRecord() throws Exception {
    try (InitListener listener = listen()) {
      CompletableFuture<byte[]> received = CompletableFuture.supplyAsync(this::init);
      listener.boot(RECORD, TIMEOUT);
      assertThat(received.get()).isEqualTo(RECORD);
    }
    assertThat(socket).as("so that the agent dials until there is another listener").doesNotExist();
  }

  @Test
  void initThatWaitsStaysConnected() throws Exception {
    try (InitListener listener = listen();
        SocketChannel init = dial()) {
      Channels.newOutputStream(init).write(LINE);
      try (AgentChannel _ = listener.awaitWaiting(TIMEOUT)) {
        init.configureBlocking(false);
        assertThat(init.read(ByteBuffer.allocate(1))).as("nothing, not the end").isZero();
        init.configureBlocking(true);
      }
      assertThat(Channels.newInputStream(init).read()).as("the end").isEqualTo(-1);
    }
  }

  @Test
  void lostAndForeignConnectionsAreIgnored() throws Exception {
    try (InitListener listener = listen()) {
      dial().close();
      try (SocketChannel foreign = dial()) {
        Channels.newOutputStream(foreign).write("GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
        CompletableFuture<byte[]> received = CompletableFuture.supplyAsync(this::init);
        listener.boot(RECORD, TIMEOUT);
        assertThat(received.get()).isEqualTo(RECORD);
      }
    }
  }

  @Test
  void silenceEndsAtTheDeadline() throws Exception {
    try (InitListener listener = listen();
        SocketChannel silent = dial()) {
      assertThat(silent.isConnected()).isTrue();
      assertThatThrownBy(() -> listener.boot(RECORD, Duration.ofMillis(200)))
          .isInstanceOf(SocketTimeoutException.class)
          .hasMessageContaining("did not ask for its boot record");
      assertThatThrownBy(() -> listener.awaitWaiting(Duration.ofMillis(50)))
          .isInstanceOf(SocketTimeoutException.class);
    }
  }

  @Test
  void endOfTheMachineEndsTheWait() throws Exception {
    try (InitListener listener = listen()) {
      alive = false;
      assertThatThrownBy(() -> listener.boot(RECORD, TIMEOUT))
          .isInstanceOf(EOFException.class)
          .hasMessage("the machine ended before its init asked for its boot record");
    }
  }

  @Test
  void initThatDoesNotHangUpAfterItsRecordIsAnError() throws Exception {
    try (InitListener listener = listen();
        SocketChannel init = dial()) {
      Channels.newOutputStream(init).write(LINE);
      Channels.newOutputStream(init).write(LINE);
      assertThatThrownBy(() -> listener.boot(RECORD, TIMEOUT))
          .hasMessage("the init of the machine answered its boot record");
    }
  }
}
