package dev.isola.integrations.springboot;

import dev.isola.client.Isola;
import dev.isola.client.embedded.EmbeddedOptions;
import dev.isola.client.error.Problem;
import java.util.Optional;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** Creates the client, unless the application has one, and closes it with the context. */
@AutoConfiguration
@EnableConfigurationProperties(IsolaProperties.class)
public class IsolaAutoConfiguration {
  private static final String EMBEDDED = "embedded";

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  Isola isola(IsolaProperties properties, Environment environment) {
    if (properties.url().equals(EMBEDDED)) {
      return Isola.embedded(EmbeddedOptions.ofSystemProperties());
    }
    String key =
        Optional.ofNullable(properties.key())
            .or(() -> Optional.ofNullable(environment.getProperty("ISOLA_API_KEY")))
            .filter(value -> !value.isBlank())
            .orElseThrow(
                () ->
                    Problem.clientSide(
                            "UNAUTHENTICATED",
                            "the application has no API key for Isola",
                            "set the property isola.key or the variable ISOLA_API_KEY; without a"
                                + " server, set isola.url to embedded and add the artifact"
                                + " dev.isola:isola-embedded")
                        .exception());
    return Isola.connect(properties.options(key));
  }
}
