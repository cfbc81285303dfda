/** How does a process of the bench answer the questions of the one that started it? (One at a time, over their channel.) */

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
