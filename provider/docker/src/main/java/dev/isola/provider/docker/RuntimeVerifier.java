package dev.isola.provider.docker;

import dev.isola.codec.http.HttpRequest;
import dev.isola.codec.json.JsonValue;
import dev.isola.provider.docker.http.EngineResponse;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.util.Optional;

/**
 * Verifies that a sandbox runs with the requested runtime. Podman 4.3 accepts any runtime name and
 * uses another one; no command runs before the verification.
 */
record RuntimeVerifier(EngineVariant variant, EngineApi engine) {
  /**
   * @throws dev.isola.spi.error.ProviderUnavailable if the runtime is a different one or cannot be
   *     determined
   */
  void verify(String container, Sandbox sandbox, Optional<String> runtime, EngineInfo engineInfo) {
    if (runtime.isPresent()) {
      String used = used(container, engineInfo);
      if (!used.equals(runtime.get()) && !used.endsWith("/" + runtime.get())) {
        throw wrong(
            sandbox, "the engine uses the runtime '" + used + "' instead of " + runtime.get());
      }
      String program = engineInfo.runtimeProgram(runtime.get());
      if (!variant.programs().matcher(program).matches()) {
        throw wrong(sandbox, "the runtime " + runtime.get() + " is '" + program + "'");
      }
    }
    if (variant.guest() == EngineVariant.ExpectedKernel.HOST_KERNEL) {
      return;
    }
    GuestKernel kernel = GuestKernel.of(sandbox);
    Optional<String> boot = GuestKernel.hostBootId(engine.http().address());
    if (!kernel.matches(variant.guest(), engineInfo.kernel(), boot)) {
      throw wrong(sandbox, "its kernel is " + kernel.version());
    }
  }

  private String used(String container, EngineInfo engineInfo) {
    if (engineInfo.podman()) {
      EngineResponse response =
          engine
              .http()
              .send(
                  HttpRequest.get("/v4.0.0/libpod/containers/" + container + "/json"),
                  EngineApi.shortDeadline());
      engine.requireSuccess(response, "inspecting the container");
      try {
        return JsonValue.parse(response.body().toArray()).text("OCIRuntime");
      } catch (IOException e) {
        return "";
      }
    }
    return engine.inspect(container).map(node -> node.text("HostConfig", "Runtime")).orElse("");
  }

  private SandboxException wrong(Sandbox sandbox, String what) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "sandbox "
                + sandbox.id()
                + " is not isolated as "
                + variant.name()
                + " promises: "
                + what,
            "check the runtimes that are registered with the engine")
        .sandbox(sandbox.id())
        .exception();
  }
}
