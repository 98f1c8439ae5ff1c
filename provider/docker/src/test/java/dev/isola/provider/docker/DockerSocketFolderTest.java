package dev.isola.provider.docker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.Conflict;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DockerSocketFolderTest {
  private static final InstanceId MINE = new InstanceId("mine");
  private static final InstanceId THEIRS = new InstanceId("theirs");
  private static final SandboxId ID = new SandboxId("abc");

  @Test
  void socketIsLinkedOutsideTheSandboxFolder() throws IOException {
    try (TemporaryFolder data = TemporaryFolder.create("isola-");
        ServerSocketChannel agent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      ContainerSocketFolder folder = ContainerSocketFolder.of(data.path(), MINE, ID);
      folder.claim(ID);
      folder.open();
      agent.bind(UnixDomainSocketAddress.of(folder.shared().resolve("agent")));
      folder.close();
      assertThat(folder.shared()).doesNotExist();
      try (SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
        assertThat(client.connect(UnixDomainSocketAddress.of(folder.socket()))).isTrue();
      }
      folder.remove();
      assertThat(folder.path()).doesNotExist();
    }
  }

  @Test
  void symbolicLinkInsteadOfTheSocketIsNotFollowed() throws IOException {
    try (TemporaryFolder data = TemporaryFolder.create("isola-")) {
      ContainerSocketFolder folder = ContainerSocketFolder.of(data.path(), MINE, ID);
      folder.claim(ID);
      folder.open();
      Files.createSymbolicLink(folder.shared().resolve("agent"), Path.of("/run/other.sock"));
      assertThatThrownBy(folder::close).isInstanceOf(IOException.class);
      assertThat(Files.exists(folder.socket())).isFalse();
    }
  }

  @Test
  void folderHasOneOwner() throws IOException {
    try (TemporaryFolder data = TemporaryFolder.create("isola-")) {
      ContainerSocketFolder mine = ContainerSocketFolder.of(data.path(), MINE, ID);
      ContainerSocketFolder theirs = ContainerSocketFolder.of(data.path(), THEIRS, ID);
      mine.claim(ID);
      assertThatThrownBy(() -> mine.claim(ID)).isInstanceOf(Conflict.class);
      assertThatThrownBy(() -> theirs.claim(ID)).isInstanceOf(Conflict.class);
      assertThat(mine.exists()).isTrue();
      assertThat(theirs.exists()).isFalse();
      assertThat(ContainerSocketFolder.list(data.path(), MINE)).containsExactly(ID);
      assertThat(ContainerSocketFolder.list(data.path(), THEIRS)).isEmpty();
    }
  }
}
