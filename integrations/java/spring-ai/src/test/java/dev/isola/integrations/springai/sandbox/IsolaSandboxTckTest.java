package dev.isola.integrations.springai.sandbox;

import dev.isola.client.Isola;
import dev.isola.client.SandboxSpec;
import dev.isola.testing.server.TestServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.springaicommunity.sandbox.AbstractSandboxTCK;

/** The community's own tests for backends. */
@Timeout(60)
class IsolaSandboxTckTest extends AbstractSandboxTCK {
  private static Isola isola;

  @BeforeAll
  static void connect() {
    TestServer server = TestServer.shared();
    isola = Isola.connect(server.url(), server.key());
  }

  @AfterAll
  static void disconnect() {
    isola.close();
  }

  @BeforeEach
  void create() {
    sandbox = IsolaSandbox.create(isola, SandboxSpec.DEFAULT);
  }
}
