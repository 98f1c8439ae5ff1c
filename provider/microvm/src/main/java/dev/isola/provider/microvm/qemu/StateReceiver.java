package dev.isola.provider.microvm.qemu;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Receives the state of a machine from QEMU, which must not start programs and so cannot write it
 * to a file itself.
 */
final class StateReceiver implements AutoCloseable {
  private static final int BUFFER = 1 << 20;

  /** More than any machine with its memory; a QEMU under control of its guest could send more. */
  private static final long MAX_SIZE = 1L << 40;

  private final ServerSocketChannel listener;
  private final Path socket;
  private final CompletableFuture<Long> received = new CompletableFuture<>();

  private StateReceiver(ServerSocketChannel listener, Path socket) {
    this.listener = listener;
    this.socket = socket;
  }

  /** Listens on a socket and writes what arrives to a file. */
  static StateReceiver listen(Path socket, Path target) throws IOException {
    ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      listener.bind(UnixDomainSocketAddress.of(socket));
    } catch (IOException e) {
      listener.close();
      throw e;
    }
    StateReceiver receiver = new StateReceiver(listener, socket);
    Thread.ofVirtual().name("isola-machine-state").start(() -> receiver.receive(target));
    return receiver;
  }

  private void receive(Path target) {
    try (SocketChannel from = listener.accept();
        FileChannel to =
            FileChannel.open(target, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
      long total = 0;
      while (from.read(buffer.clear()) >= 0) {
        buffer.flip();
        total += buffer.remaining();
        if (total > MAX_SIZE) {
          throw new IOException("the state of the machine is larger than " + MAX_SIZE + " bytes");
        }
        while (buffer.hasRemaining()) {
          to.write(buffer);
        }
      }
      received.complete(total);
    } catch (IOException | RuntimeException e) {
      received.completeExceptionally(e);
    }
  }

  /** Waits for the end of the state. */
  void await(Duration timeout) throws IOException {
    try {
      received.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new IOException("the state of the machine was not received: " + e.getCause(), e);
    } catch (TimeoutException e) {
      throw new IOException("the state of the machine did not end", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a machine was saved", e);
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    Files.deleteIfExists(socket);
  }
}
