package dev.isola.provider.microvm.firecracker;

import java.io.IOException;

/** Firecracker refused a request. The message contains its reason. */
final class FirecrackerRefusedException extends IOException {
  private static final long serialVersionUID = 1;

  FirecrackerRefusedException(String request, int status, String reason) {
    super(
        "Firecracker refused "
            + request
            + " with status "
            + status
            + (reason.isEmpty() ? " and no reason" : ": " + reason));
  }
}
