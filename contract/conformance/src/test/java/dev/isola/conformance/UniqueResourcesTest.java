package dev.isola.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UniqueResourcesTest {
  /** With ports that are only closed, some of so many would be given twice. */
  @Test
  void reservedPortIsGivenToNoOtherProgramThatAsksForAFreeOne() throws IOException {
    Set<Integer> reserved = new HashSet<>();
    for (int i = 0; i < 500; i++) {
      assertThat(reserved.add(UniqueResources.reservePort())).isTrue();
    }
  }

  @Test
  void reservedPortCanBeBound() throws IOException {
    int port = UniqueResources.reservePort();
    try (ServerSocket server = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      assertThat(server.getLocalPort()).isEqualTo(port);
    }
  }

  @Test
  void unansweredPortRefusesConnectionsAndCannotBeBound() throws IOException {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    try (Socket unanswered = UniqueResources.bindUnansweredPort()) {
      int port = unanswered.getLocalPort();
      assertThatThrownBy(() -> new Socket(loopback, port)).isInstanceOf(ConnectException.class);
      assertThatThrownBy(() -> new ServerSocket(port, 1, loopback)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void instanceIdsDiffer() {
    assertThat(UniqueResources.instanceId("kit")).isNotEqualTo(UniqueResources.instanceId("kit"));
  }
}
