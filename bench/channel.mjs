/** Serves requests from the parent process over the IPC channel, one at a time. */

/** `questions`: by the word in `do`, what makes the answer. What it throws goes back as the answer's `error`. */
export function answerQuestions(questions) {
  process.on("message", async (message) => {
    try {
      process.send(await questions[message.do](message));
    } catch (error) {
      process.send({ error: error.stack });
    }
  });
}
