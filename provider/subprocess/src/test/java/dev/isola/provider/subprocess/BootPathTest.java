package dev.isola.provider.subprocess;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.link.local.Booter;
import dev.isola.link.local.LocalProvider;
import dev.isola.spi.DestroyOptions;
import dev.isola.spi.InstanceId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.ProviderContext;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Counts the frames between {@code Provider.create} and the booter of a local provider. */
final class BootPathTest extends SubprocessFixture {
  private static final int MOST = 3;

  @Test
  void createReachesTheBooterInFewFrames() {
    ProviderContext context =
        new ProviderContext(new InstanceId(INSTANCE), data, InstantSource.system());
    List<String> frames = new ArrayList<>();
    LocalProvider counted =
        new LocalProvider(
            context, countingFrames(new SubprocessBooter("counted", context), frames));
    Sandbox sandbox = counted.create(spec().build());
    counted.destroy(sandbox.id(), DestroyOptions.FORCE);
    counted.close();
    assertThat(frames).contains("dev.isola.link.local.LocalProvider.create");
    assertThat(frames).as("frames: %s", frames).hasSizeLessThanOrEqualTo(MOST);
  }

  private static Booter countingFrames(Booter booter, List<String> frames) {
    return (Booter)
        Proxy.newProxyInstance(
            Booter.class.getClassLoader(),
            new Class<?>[] {Booter.class},
            (_, method, arguments) -> {
              if (method.getName().equals("boot")) {
                StackWalker.getInstance()
                    .forEach(
                        one -> {
                          if (one.getClassName().startsWith("dev.isola.link.")) {
                            frames.add(one.getClassName() + "." + one.getMethodName());
                          }
                        });
              }
              try {
                return method.invoke(booter, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
