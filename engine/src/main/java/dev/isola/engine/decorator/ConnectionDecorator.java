package dev.isola.engine.decorator;

import dev.isola.spi.capability.PortDialing.Connection;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A connection into a sandbox, which is a use of it until it is closed. */
record ConnectionDecorator(Connection inner, ProviderGuard guard, SandboxObserver.Use use)
    implements Connection {
  @Override
  public void shutdownOutput() {
    guard.runDirect("shutdownOutput", inner::shutdownOutput);
  }

  @Override
  public int read(ByteBuffer into) throws IOException {
    try {
      return inner.read(into);
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw guard.translated("read", e);
    }
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    try {
      return inner.write(from);
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw guard.translated("write", e);
    }
  }

  @Override
  public boolean isOpen() {
    return guard.direct("isOpen", inner::isOpen);
  }

  @Override
  public void close() throws IOException {
    try (use) {
      inner.close();
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw guard.translated("close", e);
    }
  }
}
