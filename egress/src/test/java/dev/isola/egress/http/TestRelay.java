package dev.isola.egress.http;

import dev.isola.spi.capability.PortDialing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Accepts TCP connections in the place of a sandbox and passes them to a handler. */
final class TestRelay implements AutoCloseable {
  private final ServerSocketChannel listener;
  private final List<String> events = new CopyOnWriteArrayList<>();

  TestRelay(Consumer<PortDialing.Connection> handler) {
    try {
      listener =
          ServerSocketChannel.open()
              .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.startVirtualThread(() -> accept(handler));
  }

  private void accept(Consumer<PortDialing.Connection> handler) {
    while (true) {
      try {
        SocketChannel channel = listener.accept();
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        Thread.startVirtualThread(() -> handler.accept(new Guest(channel)));
      } catch (ClosedChannelException e) {
        return;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  int port() {
    return listener.socket().getLocalPort();
  }

  /** Returns what the observer of all connections was told. */
  List<String> events() {
    return events;
  }

  HttpGate.Observer observer() {
    return new HttpGate.Observer() {
      @Override
      public void allowed(String method, String path, int status) {
        events.add("allowed " + method + " " + path + " " + status);
      }

      @Override
      public void denied(String method, String path, String reason) {
        events.add("denied " + method + " " + path + " " + reason);
      }

      @Override
      public void failed(String reason) {
        events.add("failed " + reason);
      }
    };
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }

  /** A connection with the semantics of the contract: closing without an end is a reset. */
  private static final class Guest implements PortDialing.Connection {
    private final SocketChannel channel;
    private volatile boolean ended;

    Guest(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
      return channel.read(target);
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
      return channel.write(source);
    }

    @Override
    public void shutdownOutput() {
      ended = true;
      try {
        channel.shutdownOutput();
      } catch (IOException ignored) {
        // Closed already.
      }
    }

    @Override
    public boolean isOpen() {
      return channel.isOpen();
    }

    @Override
    public void close() throws IOException {
      if (!ended && channel.isOpen()) {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
      channel.close();
    }
  }
}
