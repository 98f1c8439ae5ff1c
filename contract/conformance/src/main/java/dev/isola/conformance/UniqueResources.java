package dev.isola.conformance;

import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.SecureRandom;

/**
 * Ids and ports that no other test has, also when several runs of the tests share a machine. For
 * folders there is {@link TemporaryFolder}.
 */
public final class UniqueResources {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int SUFFIX = 8;

  private UniqueResources() {}

  /**
   * Returns an instance id. Resources on this machine, and in container engines and clusters, carry
   * it, so that runs with the same id would remove each other's.
   *
   * @param prefix lower-case letters that name the test, at most 24
   */
  public static InstanceId instanceId(String prefix) {
    return new InstanceId(prefix + SandboxId.random(RANDOM).value().substring(0, SUFFIX));
  }

  /**
   * Reserves a port of the loopback interface for a program that does not accept port 0. For about
   * a minute, the kernel gives it to no program that asks for a free port, because a closed
   * connection to it is in the state TIME_WAIT; a program that names it can bind it.
   */
  public static int reservePort() throws IOException {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    try (ServerSocket server = new ServerSocket(0, 1, loopback);
        Socket client = new Socket(loopback, server.getLocalPort())) {
      server.accept().close(); // the side that closes first keeps the state
      int end = client.getInputStream().read();
      assert end < 0;
      return server.getLocalPort();
    }
  }

  /**
   * Returns a socket whose {@linkplain Socket#getLocalPort() port} refuses connections until it is
   * closed, because it is bound, and so is given to no other program, but does not listen.
   */
  public static Socket bindUnansweredPort() throws IOException {
    Socket socket = new Socket();
    socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    return socket;
  }
}
