package dev.isola.egress.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.Test;

class ClientHelloTest {
  /** Returns the first message of a client that asks for a host. */
  static byte[] hello(String host) throws Exception {
    SSLEngine engine = SSLContext.getDefault().createSSLEngine();
    engine.setUseClientMode(true);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setServerNames(List.of(new SNIHostName(host)));
    engine.setSSLParameters(parameters);
    ByteBuffer out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    engine.wrap(ByteBuffer.allocate(0), out);
    return Arrays.copyOf(out.array(), out.position());
  }

  /** Returns what is read from a client that sends these bytes, in small pieces. */
  private static Optional<String> nameIn(byte[] sent) throws IOException {
    ByteBuffer left = ByteBuffer.wrap(sent);
    try (ConnectionMonitor monitor = new ConnectionMonitor(Duration.ofMinutes(1))) {
      MonitoredConnection client = new MonitoredConnection(new Sender(left), monitor);
      Optional<String> name = ClientHello.serverName(client);
      ByteBuffer again = ByteBuffer.allocate(sent.length);
      while (again.hasRemaining() && client.read(again) >= 0) {}
      assertThat(again.array()).as("what is read later").isEqualTo(sent);
      return name;
    }
  }

  private record Sender(ByteBuffer left) implements PortDialing.Connection {
    @Override
    public int read(ByteBuffer target) {
      if (!left.hasRemaining()) {
        return -1;
      }
      int count = Math.min(7, Math.min(left.remaining(), target.remaining()));
      target.put(left.slice(left.position(), count));
      left.position(left.position() + count);
      return count;
    }

    @Override
    public int write(ByteBuffer source) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void shutdownOutput() {}

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  @Test
  void nameIsReadAndTheBytesStay() throws Exception {
    assertThat(nameIn(hello("api.example"))).hasValue("api.example");
  }

  @Test
  void cutAndDamagedMessagesHaveNoNameOrAnother() throws Exception {
    byte[] hello = hello("api.example");
    for (int length = 0; length < hello.length; length++) {
      assertThat(nameIn(Arrays.copyOf(hello, length)))
          .satisfiesAnyOf(
              name -> assertThat(name).isEmpty(), name -> assertThat(name).hasValue("api.example"));
    }
    Random random = new Random(17);
    for (int round = 0; round < 5_000; round++) {
      byte[] damaged = hello.clone();
      for (int i = 0; i < 3; i++) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
      }
      assertThat(nameIn(damaged)).isNotNull();
    }
  }
}
