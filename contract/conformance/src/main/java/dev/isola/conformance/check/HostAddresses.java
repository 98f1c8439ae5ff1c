package dev.isola.conformance.check;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.time.Duration;
import java.util.List;

/** Network addresses of this machine. */
final class HostAddresses {
  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  private HostAddresses() {}

  static List<InetAddress> ofThisMachine() throws IOException {
    return NetworkInterface.networkInterfaces()
        .flatMap(NetworkInterface::inetAddresses)
        .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
        .toList();
  }

  /** Returns whether this process can connect. */
  static boolean answers(InetSocketAddress address) {
    try (Socket socket = new Socket()) {
      socket.connect(address, (int) TIMEOUT.toMillis());
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
